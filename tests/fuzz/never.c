// SPDX-License-Identifier: GPL-2.0
/*
 * Defines functions that the engine references but never calls here: no process
 * maps its rings or pins memory, no socket is opened, and no netdev changes. It
 * does not include the headers of the kernel, which declare these with other
 * types.
 */
void fk_fail(const char *file, int line, const char *what)
	__attribute__((noreturn));

/* The kernel declares it volatile and makes it an alias of jiffies_64. */
unsigned long jiffies;

void *system_unbound_wq;

#define NEVER(name)				\
	void name(void);			\
	void name(void)				\
	{					\
		fk_fail(__FILE__, __LINE__, #name);	\
	}

NEVER(__folio_put)
NEVER(__pskb_pull_tail)
NEVER(__var_waitqueue)
NEVER(crypto_destroy_tfm)
NEVER(finish_wait)
NEVER(flush_work)
NEVER(free_percpu)
NEVER(get_device)
NEVER(ib_unregister_device)
NEVER(init_wait_var_entry)
NEVER(ipv6_mod_enabled)
NEVER(mxe_shadow_create)
NEVER(mxe_shadow_free)
NEVER(mxe_shadow_sync)
NEVER(napi_build_skb)
NEVER(page_frag_free)
NEVER(prepare_to_wait_event)
NEVER(pskb_expand_head)
NEVER(put_device)
NEVER(rdma_user_mmap_entry_get)
NEVER(rdma_user_mmap_entry_put)
NEVER(register_pernet_subsys)
NEVER(rtnl_is_locked)
NEVER(schedule)
NEVER(setup_udp_tunnel_sock)
NEVER(udp_sock_create4)
NEVER(udp_sock_create6)
NEVER(udp_tunnel_sock_release)
NEVER(unregister_pernet_subsys)
NEVER(vm_insert_page)
NEVER(vmalloc_to_page)
