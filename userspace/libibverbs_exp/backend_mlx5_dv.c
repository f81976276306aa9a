// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loads libmlx5 for backend_mlx5.c, if it is installed. This library does not
 * depend on it, because it is installed as the provider wherever there is an
 * mlx5 device.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "backend_mlx5_dv.h"

static struct exp_mlx5dv mlx5dv;
static const struct exp_mlx5dv *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* version is the symbol version that the function has in libmlx5. */
#define LOAD(lib, call, version) \
	(mlx5dv.call = (__typeof__(mlx5dv.call)) \
		dlvsym(lib, "mlx5dv_" #call, version))

static void load(void)
{
	void *lib = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return;
	if (!LOAD(lib, is_supported, "MLX5_1.8")) {
		dlclose(lib);
		return;
	}
	LOAD(lib, create_qp, "MLX5_1.3");
	LOAD(lib, devx_general_cmd, "MLX5_1.7");
	LOAD(lib, init_obj, "MLX5_1.2");
	LOAD(lib, qp_ex_from_ibv_qp_ex, "MLX5_1.10");

	/*
	 * The builder itself has no symbol. It was added in rdma-core 36
	 * together with this function, which is checked instead.
	 */
	mlx5dv.has_raw_wqe =
		mlx5dv.create_qp && mlx5dv.devx_general_cmd &&
		mlx5dv.qp_ex_from_ibv_qp_ex && mlx5dv.init_obj &&
		dlvsym(lib, "mlx5dv_dr_domain_allow_duplicate_rules",
		       "MLX5_1.20");
	loaded = &mlx5dv;
}

const struct exp_mlx5dv *exp_mlx5dv(void)
{
	pthread_once(&once, load);
	return loaded;
}
