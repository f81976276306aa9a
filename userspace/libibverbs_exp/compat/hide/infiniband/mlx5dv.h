/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hides the mlx5dv.h of rdma-core. Programs that support the experimental verbs
 * and mlx5dv never had both: their sources clash, or use mlx5dv instead of the
 * experimental verbs. A configure script that tries this header does not find
 * mlx5dv.
 */
#error "ibv-exp-env hides infiniband/mlx5dv.h; see --with-mlx5dv in ibv-exp-env(1)"
