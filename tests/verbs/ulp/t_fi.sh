#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider mxe of libfabric: output of fi_info, messages by fi_pingpong and
# t_fi_msg, connections by t_fi_cm, names by t_fi_name, what programs open by
# t_fi_open, peers that are killed by t_fi_death, a device that is removed by
# t_fi_remove, forged hellos by t_fi_hello, all atomics by t_fi_atomic, and
# messages over DC by t_fi_dc_msg. t_fi_exit ends with an open domain. Then
# messages on a wire that loses, repeats and reorders packets. t_fi_by_dc.sh
# runs more, over DC and on such a wire.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/verbs/lib/fi.sh
. ../lib/fi.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

fi_hosts fi_pingpong

INFO=$(on h1 fi_info -v -p mxe 2>&1)
like "$INFO" 'caps: .*FI_MSG, FI_RMA, FI_TAGGED, FI_ATOMIC' \
	'fi_info: messages, RMA, tagged messages, atomics'
like "$INFO" 'caps: .*FI_MULTI_RECV.*FI_DIRECTED_RECV' \
	'fi_info: multiple and directed receives'
like "$INFO" 'caps: .*FI_FENCE' 'fi_info: fences'
like "$INFO" 'caps: .*FI_SOURCE' 'fi_info: sources of messages'
is "$(grep -c FI_SOURCE_ERR <<<"$INFO")" 0 'fi_info: ... without errors by default'
check 'fi_info -c FI_SOURCE_ERR' on h1 fi_info -p mxe -c 'FI_MSG|FI_SOURCE|FI_SOURCE_ERR'
like "$INFO" 'type: FI_EP_RDM' 'fi_info: FI_EP_RDM'
like "$INFO" 'name: mxe1' 'fi_info: the device of this host'
is "$(grep -c 'name: mxe2\|ofi_rxm' <<<"$INFO")" 0 \
	'fi_info: nothing that is absent'
ENV=$(on h1 fi_info -e 2>&1 | tr -d '\0')
like "$ENV" 'FI_MXE_CONNECT_TIMEOUT' 'fi_info -e: the time to connect'
like "$ENV" 'FI_MXE_MAX_CONNECTIONS' 'fi_info -e: the limit of connections'
like "$ENV" 'FI_MXE_DC:' 'fi_info -e: DC'
like "$ENV" 'FI_MXE_DC_INITIATORS' 'fi_info -e: the initiators of DC'
like "$(on h1 fi_info -p mxe -t FI_EP_MSG)" 'type: FI_EP_MSG' 'fi_info: FI_EP_MSG'
check 'fi_info: no directed receives of FI_EP_MSG' \
	eval '! on h1 fi_info -p mxe -t FI_EP_MSG -c FI_DIRECTED_RECV'
check 'fi_info -c FI_FENCE' on h1 fi_info -p mxe -c 'FI_MSG|FI_FENCE'

# pingpong TYPE: messages of all sizes up to 1 MiB, whose contents are compared.
pingpong()
{
	local pid rc
	on h2 timeout 300 fi_pingpong -p mxe -e "$1" -I 10 -c >/tmp/fi-server 2>&1 &
	pid=$!
	listens h2 47592 "$pid" &&
		on h1 timeout 300 fi_pingpong -p mxe -e "$1" -I 10 -c 10.77.0.2
	rc=$?
	wait "$pid" || {
		rc=$?
		echo "server:"
		cat /tmp/fi-server
	}
	return "$rc"
}

check 'fi_pingpong -p mxe -e rdm' pingpong rdm
check 'fi_pingpong -p mxe -e msg' pingpong msg

check 'tagged messages and atomics, peeks, directed and multiple receives' t_fi_msg
check 'connections of FI_EP_MSG' t_fi_cm
check 'endpoints by node and service' t_fi_name
check 'capabilities, and what programs open' t_fi_open
check 'a program that ends with an open domain' t_fi_exit
check 'peers that are killed' t_fi_death
check 'a device that is removed' t_fi_remove
topo_gids mxe2 || bail_out "mxe2 has no addresses"
check 'forged hellos' t_fi_hello
BEFORE=$(counter mxe2 masked_atomics_executed)
check 'all pairs of operation and datatype' t_fi_atomic
AFTER=$(counter mxe2 masked_atomics_executed)
check "the device has executed the atomics ($((AFTER - BEFORE)))" \
	[ $((AFTER - BEFORE)) -ge 1656 ]
check 'messages by DC' by_dc t_fi_dc_msg

check 'netem: 3 % lost, 3 % duplicated, reordered, both ways' topo_netem \
	delay 200us 100us loss 3% duplicate 3% reorder 25% 50%
check '... messages' t_fi_msg

done_testing
