-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Wireshark dissector for the masked atomics of mxe.  The packets are specified
-- in Documentation/wire-format.rst.  To use it, run
--
--	tools/wireshark/decode capture.pcap
--
-- or copy this file into the personal Lua plugin folder of Wireshark, which is
-- listed in its About dialog.  As root, Wireshark 4.4 and newer loads it only
-- from the global folder.  Wireshark's own InfiniBand dissector still
-- decodes standard packets and the base transport header of masked atomics, so
-- filters on infiniband.bth.* work for both.  Responses are standard ATOMIC
-- ACKNOWLEDGEs.

local ROCE_PORT = 4791
local VERSION = 1
local LOG_MIN, LOG_MAX = 0, 5

-- The headers, one field per line in wire order, each with its size in bits.
-- Fields of size "n" are operands of max(8, 2^log_arg_sz) bytes.  An operand
-- has a name in each of the two requests; those marked unused are zero in a
-- fetch-and-add.  tools/lib/docs/packet-svg parses these lines to draw the
-- picture of the packets in Documentation/wire-format.rst, so a field stays on
-- one line.
local layout = {
	bth = {		-- Base transport header
		{ id = "opcode", bits = 8, name = "Opcode" },
		{ id = "se", bits = 1, name = "S" },
		{ id = "migreq", bits = 1, name = "M" },
		{ id = "pad", bits = 2, name = "Pad" },
		{ id = "tver", bits = 4, name = "TVer" },
		{ id = "pkey", bits = 16, name = "Partition key" },
		{ id = "fecn", bits = 1, name = "F" },
		{ id = "becn", bits = 1, name = "B" },
		{ id = "reserved6", bits = 6, name = "Reserved" },
		{ id = "qpn", bits = 24, name = "Destination QP" },
		{ id = "ackreq", bits = 1, name = "A" },
		{ id = "reserved7", bits = 7, name = "Reserved" },
		{ id = "psn", bits = 24, name = "Packet sequence number" },
	},
	xrceth = {	-- XRC extended transport header
		{ id = "reserved", bits = 8, name = "Reserved" },
		{ id = "xrcsrq", bits = 24, name = "XRC shared receive queue" },
	},
	mskatomiceth = {	-- Masked-atomic extended transport header
		{ id = "va", bits = 64, name = "Virtual address" },
		{ id = "rkey", bits = 32, name = "Remote key" },
		{ id = "version", bits = 8, name = "Version" },
		{ id = "log_arg_sz", bits = 8, name = "log_arg_sz" },
		{ id = "reserved", bits = 16, name = "Reserved" },
		{ id = "swap_or_add", bits = "n", swap = "Swap", add = "Add" },
		{ id = "compare", bits = "n", swap = "Compare", unused = true },
		{ id = "swap_mask", bits = "n", swap = "Swap mask", unused = true },
		{ id = "compare_or_boundary", bits = "n", swap = "Compare mask", add = "Field boundaries" },
	},
	aeth = {	-- ACK extended transport header
		{ id = "syndrome", bits = 8, name = "Syndrome" },
		{ id = "msn", bits = 24, name = "Message sequence number" },
	},
	atomicacketh = {	-- Atomic ACK extended transport header
		{ id = "old", bits = "n", name = "Old value" },
	},
	tmh = {		-- Tag-matching header, at the beginning of the payload
		{ id = "opcode", bits = 8, name = "Operation" },
		{ id = "reserved", bits = 24, name = "Reserved" },
		{ id = "app_ctx", bits = 32, name = "Context" },
		{ id = "tag", bits = 64, name = "Tag" },
	},
	rvh = {		-- Rendezvous header, after the TMH
		{ id = "va", bits = 64, name = "Virtual address" },
		{ id = "rkey", bits = 32, name = "Remote key" },
		{ id = "len", bits = 32, name = "Length" },
	},
	dceth = {	-- DC extended transport header, after the BTH
		{ id = "version", bits = 8, name = "Version" },
		{ id = "flags", bits = 8, name = "Flags" },
		{ id = "code", bits = 8, name = "Code" },
		{ id = "reserved", bits = 8, name = "Reserved" },
		{ id = "reserved8", bits = 8, name = "Reserved" },
		{ id = "qpn", bits = 24, name = "Source QP" },
		{ id = "session", bits = 32, name = "Session" },
		{ id = "instance", bits = 64, name = "Instance" },
	},
	dcceth = {	-- DC connect extended transport header, after the DCETH
		{ id = "key", bits = 64, name = "Access key" },
		{ id = "mtu", bits = 8, name = "Path MTU" },
		{ id = "psn", bits = 24, name = "First PSN" },
		{ id = "life", bits = 32, name = "Lifetime" },
		{ id = "token", bits = 64, name = "Token" },
	},
	dctleth = {	-- DC control extended transport header, after the DCETH
		{ id = "token", bits = 64, name = "Token" },
		{ id = "age", bits = 64, name = "Age" },
	},
	icrc = {	-- Invariant CRC
		{ id = "icrc", bits = 32, name = "Invariant CRC" },
	},
}

-- Returns where the fields of a header begin, in bytes, and the length in bytes
-- of the header up to the first operand.
local function measure(header)
	local at, bits = {}, 0

	for _, field in ipairs(header) do
		if field.bits == "n" then
			break
		end
		at[field.id] = math.floor(bits / 8)
		bits = bits + field.bits
	end
	return at, bits / 8
end

local bth_at, BTH_LEN = measure(layout.bth)
local xrceth_at, XRCETH_LEN = measure(layout.xrceth)
local _, FIXED_LEN = measure(layout.mskatomiceth)
local _, ICRC_LEN = measure(layout.icrc)
local tmh_at, TMH_LEN = measure(layout.tmh)
local rvh_at, RVH_LEN = measure(layout.rvh)
local dceth_at, DCETH_LEN = measure(layout.dceth)
local dcceth_at, DCCETH_LEN = measure(layout.dcceth)
local _, DCTLETH_LEN = measure(layout.dctleth)

local fixed_fields, operands = {}, {}
for _, field in ipairs(layout.mskatomiceth) do
	table.insert(field.bits == "n" and operands or fixed_fields, field)
end

local mxe = Proto("mxe", "mxe masked atomic")

local opcodes = {
	[0xd3] = { name = "RC Masked CmpSwap" },
	[0xd4] = { name = "RC Masked FetchAdd", add = true },
	[0xd5] = { name = "XRC Masked CmpSwap", xrc = true },
	[0xd6] = { name = "XRC Masked FetchAdd", xrc = true, add = true },
}

local opcode_names = {}
for value, op in pairs(opcodes) do
	opcode_names[value] = op.name
end

-- Opcodes of the first packet of a SEND, and the bytes between BTH and payload.
local sends = { [0x00] = 0, [0x04] = 0, [0x05] = 4, [0x17] = 4 }

local tm_opcodes = { [0] = "NO_TAG", [1] = "RNDV", [2] = "FIN", [3] = "EAGER" }
local TM_RNDV, TM_FIN = 1, 2

-- DC packets are RC packets of these opcodes, plus 0xe0, with a DCETH.
local dc_opcodes = {
	[0xf8] = "Masked CmpSwap", [0xf9] = "Masked FetchAdd",
	[0xfc] = "FLUSH", [0xfd] = "ATOMIC WRITE", [0xfe] = "Control",
}
for i, name in ipairs({
	"SEND First", "SEND Middle", "SEND Last", "SEND Last Imm",
	"SEND Only", "SEND Only Imm", "WRITE First", "WRITE Middle",
	"WRITE Last", "WRITE Last Imm", "WRITE Only", "WRITE Only Imm",
	"READ Request", "READ Response First", "READ Response Middle",
	"READ Response Last", "READ Response Only", "Acknowledge",
	"ATOMIC Acknowledge", "CmpSwap", "FetchAdd",
}) do
	dc_opcodes[0xe0 + i - 1] = name
end
dc_opcodes[0xf6], dc_opcodes[0xf7] = "SEND Last Inv", "SEND Only Inv"
local DC_CONTROL, DC_CONNECT = 0xfe, 1
local dc_codes = {
	[0] = "none", [1] = "disconnect", [2] = "challenge", [3] = "stale",
	[4] = "no session", [5] = "busy", [6] = "bad key", [7] = "refused",
}

local dc_has_token = { [2] = true, [3] = true }

local icrc_states = { [0] = "wrong", [1] = "correct", [2] = "not checked" }

local f = {
	opcode = ProtoField.uint8("mxe.opcode", "Operation", base.HEX,
				  opcode_names),
	xrcsrq = ProtoField.uint24("mxe.xrcsrq", "XRC shared receive queue",
				   base.HEX),
	va = ProtoField.uint64("mxe.va", "Virtual address", base.HEX),
	rkey = ProtoField.uint32("mxe.rkey", "Remote key", base.HEX),
	version = ProtoField.uint8("mxe.version", "Version"),
	log_arg_sz = ProtoField.uint8("mxe.log_arg_sz",
				      "Operand size (log2 of bytes)"),
	reserved = ProtoField.uint16("mxe.reserved", "Reserved", base.HEX),
	rest = ProtoField.bytes("mxe.undecoded", "Not decoded"),
	icrc = ProtoField.uint32("mxe.icrc", "Invariant CRC", base.HEX),
	icrc_status = ProtoField.uint8("mxe.icrc.status",
				       "Invariant CRC is", base.DEC,
				       icrc_states),
	tm_opcode = ProtoField.uint8("mxe.tm.opcode", "Operation", base.DEC,
				     tm_opcodes),
	tm_app_ctx = ProtoField.uint32("mxe.tm.app_ctx", "Context", base.HEX),
	tm_tag = ProtoField.uint64("mxe.tm.tag", "Tag", base.HEX),
	tm_va = ProtoField.uint64("mxe.tm.va", "Virtual address", base.HEX),
	tm_rkey = ProtoField.uint32("mxe.tm.rkey", "Remote key", base.HEX),
	tm_len = ProtoField.uint32("mxe.tm.len", "Length"),
	dc_version = ProtoField.uint8("mxe.dc.version", "Version"),
	dc_flags = ProtoField.uint8("mxe.dc.flags", "Flags", base.HEX),
	dc_code = ProtoField.uint8("mxe.dc.code", "Code", base.DEC, dc_codes),
	dc_qpn = ProtoField.uint24("mxe.dc.qpn", "Source QP", base.HEX),
	dc_session = ProtoField.uint32("mxe.dc.session", "Session"),
	dc_token = ProtoField.uint64("mxe.dc.token", "Token", base.HEX),
	dc_instance = ProtoField.uint64("mxe.dc.instance", "Instance", base.HEX),
	dc_age = ProtoField.uint64("mxe.dc.age", "Age in ns"),
	dc_key = ProtoField.uint64("mxe.dc.key", "Access key", base.HEX),
	dc_mtu = ProtoField.uint8("mxe.dc.mtu", "Path MTU"),
	dc_psn = ProtoField.uint24("mxe.dc.psn", "First PSN"),
	dc_life = ProtoField.uint32("mxe.dc.life", "Lifetime in ms"),
}
for _, operand in ipairs(operands) do
	local id = operand.id

	-- Operands of up to 64 bits are numbers, wider ones are bytes.
	f[id] = ProtoField.uint64("mxe." .. id, id, base.HEX)
	f[id .. "_wide"] = ProtoField.bytes("mxe." .. id .. "_wide", id)
end
mxe.fields = f

local function malformed(id, text)
	return ProtoExpert.new("mxe.expert." .. id, text,
			       expert.group.MALFORMED, expert.severity.ERROR)
end

local function warning(id, text)
	return ProtoExpert.new("mxe.expert." .. id, text,
			       expert.group.PROTOCOL, expert.severity.WARN)
end

local e = {
	length = malformed("length",
		"The packet is not as long as its headers"),
	version = malformed("version", "Unknown version"),
	size = malformed("log_arg_sz", "Impossible operand size"),
	reserved = malformed("reserved", "Reserved bits are set"),
	unused = malformed("unused", "An unused operand is not zero"),
	misaligned = malformed("misaligned",
		"The address is not a multiple of the operand size"),
	plain = warning("plain",
		"Nothing is masked: this must be sent as the standard atomic"),
	icrc = warning("icrc", "The invariant CRC is wrong"),
	cut = warning("cut", "The capture cuts the packet short"),
}
mxe.experts = e

mxe.prefs.port = Pref.uint("UDP port", ROCE_PORT,
	"A port to decode as RoCEv2 beside 4791, the port parameter of mxe.ko")

mxe.prefs.tm_qps = Pref.string("Tag-matching QPs", "",
	"QP numbers whose messages begin with a tag-matching header, as 0x12 0x34, or all")

-- ---- invariant CRC -------------------------------------------------------

local bitop = bit	-- part of Wireshark, with every version of Lua

local crc_table = {}
for i = 0, 255 do
	local c = i

	for _ = 1, 8 do
		local low = c % 2

		c = bitop.rshift(c, 1)
		if low == 1 then
			c = bitop.bxor(c, 0xedb88320)
		end
	end
	crc_table[i] = c
end

-- The CRC covers the IP and UDP headers, too.
local field_ip = Field.new("ip")
local field_ipv6 = Field.new("ipv6")
local field_udp = Field.new("udp")

local function innermost(field)
	local all = { field() }

	return all[#all] and all[#all].range
end

-- Returns the bytes of a range after setting bits to ones: `ones` maps the
-- offset of a byte to the bits that are set in it.
local function masked(range, ones)
	local bytes = {}

	for i = 0, range:len() - 1 do
		local m = ones[i] or 0

		bytes[i + 1] = bitop.bor(range(i, 1):uint(), m)
	end
	return bytes
end

-- Returns the CRC that the packet should have, in the byte order in which
-- Wireshark shows it, or nil if the IP and UDP headers were not decoded.
local function icrc_expected(tvb)
	local ip, ip6, udp = innermost(field_ip), innermost(field_ipv6),
			     innermost(field_udp)
	local parts = {
		[1] = { 255, 255, 255, 255, 255, 255, 255, 255 },
	}
	local crc = 0xffffffff

	if not udp or (ip and ip6) then
		return nil	-- a tunnel: either header could be the one covered
	elseif ip then
		parts[2] = masked(ip, { [1] = 0xff, [8] = 0xff, [10] = 0xff,
					[11] = 0xff })
	elseif ip6 then
		parts[2] = masked(ip6(0, 40), { [0] = 0x0f, [1] = 0xff,
						[2] = 0xff, [3] = 0xff,
						[7] = 0xff })
	else
		return nil
	end
	parts[3] = masked(udp(0, 8), { [6] = 0xff, [7] = 0xff })
	parts[4] = masked(tvb(0, tvb:len() - ICRC_LEN), { [4] = 0xff })

	for _, part in ipairs(parts) do
		for _, byte in ipairs(part) do
			local i = bitop.band(bitop.bxor(crc, byte), 0xff)

			crc = bitop.bxor(bitop.rshift(crc, 8), crc_table[i])
		end
	end
	return bitop.bswap(bitop.bnot(crc)) % 0x100000000
end

local function show_icrc(tvb, tree)
	local range = tvb(tvb:len() - ICRC_LEN, ICRC_LEN)
	local item = tree:add(f.icrc, range)
	local expected = icrc_expected(tvb)
	local status = 2

	if expected then
		status = range:uint() == expected and 1 or 0
	end
	if status == 0 then
		item:add_proto_expert_info(e.icrc, string.format(
			"The invariant CRC should be 0x%08x", expected))
	end
	tree:add(f.icrc_status, range, status):set_generated()
end

-- ---- the header ----------------------------------------------------------

local function is_zero(range)
	return not range:bytes():tohex():find("[^0]")
end

local function is_ones(range)
	return not range:bytes():tohex():find("[^Ff]")
end

-- Formats a number of any size without leading zeros.
local function short_hex(range)
	return "0x" .. range:bytes():tohex():lower():gsub("^0+(%x)", "%1")
end

local function operand_name(op, operand)
	if not op.add then
		return operand.swap
	end
	return operand.add or "Unused (" .. operand.swap:lower() .. ")"
end

-- A word of four bytes is carried in the low half of an operand of eight.
local function check_operand(op, operand, range, log, item)
	local size = 2 ^ log

	if op.add and operand.unused then
		if not is_zero(range) then
			item:add_proto_expert_info(e.unused)
		end
	elseif size < range:len() and
	       not is_zero(range(0, range:len() - size)) then
		item:add_proto_expert_info(e.unused,
			"The operand is larger than its size")
	end
end

-- Requests in which nothing is masked must be sent with the standard opcodes,
-- which exist for words of eight bytes only.
local function check_plain(op, values, log, tree)
	local compare_mask = values.compare_or_boundary
	local plain

	if log ~= 3 then
		return
	elseif op.add then
		plain = is_zero(compare_mask(1, 7)) and
			compare_mask(0, 1):uint() % 0x80 == 0
	else
		plain = is_ones(compare_mask) and is_ones(values.swap_mask)
	end
	if plain then
		tree:add_proto_expert_info(e.plain)
	end
end

local function show_operands(op, tvb, offset, log, tree)
	local len = math.max(8, 2 ^ log)
	local values = {}

	for _, operand in ipairs(operands) do
		local range = tvb(offset, len)
		local field = f[operand.id .. (len > 8 and "_wide" or "")]
		local item = tree:add(field, range)

		item:set_text(string.format("%s: 0x%s", operand_name(op, operand),
					    range:bytes():tohex():lower()))
		check_operand(op, operand, range, log, item)
		values[operand.id] = range
		offset = offset + len
	end
	check_plain(op, values, log, tree)

	if op.add then
		return string.format(" add=%s boundary=%s",
				     short_hex(values.swap_or_add),
				     short_hex(values.compare_or_boundary))
	end
	return string.format(" compare=%s/%s swap=%s/%s",
			     short_hex(values.compare),
			     short_hex(values.compare_or_boundary),
			     short_hex(values.swap_or_add),
			     short_hex(values.swap_mask))
end

-- Decodes everything between the base transport header and the CRC, which
-- begins at `last`.  Returns text for the packet list.
local function show_header(op, tvb, last, tree)
	local offset = BTH_LEN + (op.xrc and XRCETH_LEN or 0)
	local info = ""

	if op.xrc then
		if last < offset then
			tree:add_proto_expert_info(e.length)
			return " [malformed]"
		end
		tree:add(f.xrcsrq, tvb(BTH_LEN + xrceth_at.xrcsrq, 3))
		if not is_zero(tvb(BTH_LEN + xrceth_at.reserved, 1)) then
			tree:add_proto_expert_info(e.reserved)
		end
	end
	if last < offset + FIXED_LEN then
		tree:add_proto_expert_info(e.length)
		return " [malformed]"
	end

	local ranges, items = {}, {}
	for _, field in ipairs(fixed_fields) do
		ranges[field.id] = tvb(offset, field.bits / 8)
		items[field.id] = tree:add(f[field.id], ranges[field.id])
		offset = offset + field.bits / 8
	end

	local log = ranges.log_arg_sz:uint()
	info = string.format(" VA=0x%s rkey=%s",
			     ranges.va:bytes():tohex():lower(),
			     short_hex(ranges.rkey))
	if ranges.version:uint() ~= VERSION then
		-- The layout of the rest is unknown.
		items.version:add_proto_expert_info(e.version)
		if offset < last then
			tree:add(f.rest, tvb(offset, last - offset))
		end
		return info .. " [unknown version]"
	end
	if not is_zero(ranges.reserved) then
		items.reserved:add_proto_expert_info(e.reserved)
	end
	if log < LOG_MIN or log > LOG_MAX then
		items.log_arg_sz:add_proto_expert_info(e.size)
		if offset < last then
			tree:add(f.rest, tvb(offset, last - offset))
		end
		return info .. " [impossible size]"
	end
	if ranges.va(7, 1):uint() % 2 ^ log ~= 0 then
		items.va:add_proto_expert_info(e.misaligned)
	end

	local len = #operands * math.max(8, 2 ^ log)
	if last ~= offset + len then
		tree:add_proto_expert_info(e.length)
		if offset < last then
			tree:add(f.rest, tvb(offset, last - offset))
		end
		return info .. " [malformed]"
	end
	return info .. show_operands(op, tvb, offset, log, tree)
end

local udp_ports = DissectorTable.get("udp.port")
local infiniband = udp_ports:get_dissector(ROCE_PORT)

-- The dissector marks malformed packets in the tree and also raises an error,
-- which is caught so that the fields below are still shown.
local function show_standard(tvb, pinfo, root)
	pcall(infiniband.call, infiniband, tvb, pinfo, root)
end

-- ---- tag matching --------------------------------------------------------

-- Nothing in a SEND tells that its receiver has a tag-matching queue, so the
-- preference does.
local function has_tags(qpn)
	local qps = mxe.prefs.tm_qps

	if qps == "all" then
		return true
	end
	for number in string.gmatch(qps, "%w+") do
		if tonumber(number) == qpn then
			return true
		end
	end
	return false
end

-- Shows the headers of a message, which begins at offset and ends at last.
local function show_tag(tvb, pinfo, root, offset, last)
	local opcode = tvb(offset + tmh_at.opcode, 1):uint()
	local name = tm_opcodes[opcode] or "unknown"
	local len = TMH_LEN
	local rndv = (opcode == TM_RNDV or opcode == TM_FIN) and
		     last >= offset + TMH_LEN + RVH_LEN

	if rndv then
		len = len + RVH_LEN
	end
	local tag = tvb(offset + tmh_at.tag, 8)
	local tree = root:add(mxe, tvb(offset, len))
	tree:set_text("Tag matching, " .. name)
	tree:add(f.tm_opcode, tvb(offset + tmh_at.opcode, 1))
	tree:add(f.tm_app_ctx, tvb(offset + tmh_at.app_ctx, 4))
	tree:add(f.tm_tag, tag)
	local info = string.format(" %s tag=0x%s", name, tostring(tag:bytes()):lower())
	if rndv then
		local at = offset + TMH_LEN

		tree:add(f.tm_va, tvb(at + rvh_at.va, 8))
		tree:add(f.tm_rkey, tvb(at + rvh_at.rkey, 4))
		tree:add(f.tm_len, tvb(at + rvh_at.len, 4))
		info = info .. " len=" .. tvb(at + rvh_at.len, 4):uint()
	end
	pinfo.cols.info:append(info)
end

local function show_send(tvb, pinfo, root)
	local extra = tvb:len() > BTH_LEN and sends[tvb(0, 1):uint()]
	local last = tvb:reported_len() - ICRC_LEN

	if extra and last >= BTH_LEN + extra + TMH_LEN and
	   tvb:len() == tvb:reported_len() and
	   has_tags(tvb(bth_at.qpn, 3):uint()) then
		show_tag(tvb, pinfo, root, BTH_LEN + extra, last)
	end
end

-- ---- dynamically connected transport --------------------------------------

-- Adds the fields of a header that begins at offset.
local function show_fields(tvb, tree, header, offset, prefix)
	for _, field in ipairs(header) do
		local item = f[prefix .. field.id]

		if item then
			tree:add(item, tvb(offset, field.bits / 8))
		end
		offset = offset + field.bits / 8
	end
end

local function show_dc(name, tvb, pinfo, root)
	local psn = tvb(bth_at.psn, 3):uint()
	local qpn = tvb(bth_at.qpn, 3):uint()
	local info = string.format("DC %s QP=0x%06x PSN=%d", name, qpn, psn)
	local tree = root:add(mxe, tvb(BTH_LEN))
	local last = tvb:reported_len() - ICRC_LEN
	local offset = BTH_LEN

	tree:set_text("Dynamically connected, " .. name)
	if tvb:len() < tvb:reported_len() then
		tree:add_proto_expert_info(e.cut)
		pinfo.cols.info:set(info .. " [cut short]")
		return
	end
	if last < offset + DCETH_LEN then
		tree:add_proto_expert_info(e.length)
		pinfo.cols.info:set(info .. " [malformed]")
		return
	end
	show_fields(tvb, tree, layout.dceth, offset, "dc_")
	if tvb(offset + dceth_at.version, 1):uint() ~= VERSION then
		tree:add_proto_expert_info(e.version)
		pinfo.cols.info:set(info .. " [unknown version]")
		return
	end
	info = string.format("%s session=%s", info,
			     tvb(offset + dceth_at.session, 4):uint())
	local control = tvb(0, 1):uint() == DC_CONTROL
	local code = tvb(offset + dceth_at.code, 1):uint()
	if control then
		info = info .. " " .. (dc_codes[code] or "unknown code")
	end
	local connect = tvb(offset + dceth_at.flags, 1):uint() % 2 == DC_CONNECT
	offset = offset + DCETH_LEN
	if control then
		local len = dc_has_token[code] and DCTLETH_LEN or 0

		if last ~= offset + len then
			tree:add_proto_expert_info(e.length)
			pinfo.cols.info:set(info .. " [malformed]")
			return
		end
		if len > 0 then
			show_fields(tvb, tree, layout.dctleth, offset, "dc_")
		end
		offset = offset + len
	elseif connect then
		if last < offset + DCCETH_LEN then
			tree:add_proto_expert_info(e.length)
			pinfo.cols.info:set(info .. " [malformed]")
			return
		end
		show_fields(tvb, tree, layout.dcceth, offset, "dc_")
		info = info .. " connect first=" ..
		       tvb(offset + dcceth_at.psn, 3):uint()
		offset = offset + DCCETH_LEN
	end
	if offset < last then
		tree:add(f.rest, tvb(offset, last - offset))
	end
	show_icrc(tvb, tree)
	pinfo.cols.info:set(info)
end

-- ---- packets -------------------------------------------------------------

function mxe.dissector(tvb, pinfo, root)
	local op = tvb:len() > BTH_LEN and opcodes[tvb(0, 1):uint()]

	show_standard(tvb, pinfo, root)
	if not op then
		local dc = tvb:len() > BTH_LEN and dc_opcodes[tvb(0, 1):uint()]

		if dc then
			show_dc(dc, tvb, pinfo, root)
			return tvb:len()
		end
		show_send(tvb, pinfo, root)
		return tvb:len()
	end

	local psn = tvb(bth_at.psn, 3):uint()
	local qpn = tvb(bth_at.qpn, 3):uint()
	local info = string.format("%s QP=0x%06x PSN=%d", op.name, qpn, psn)
	local last = tvb:reported_len() - ICRC_LEN

	local tree = root:add(mxe, tvb(BTH_LEN))
	tree:add(f.opcode, tvb(0, 1)):set_generated()
	tree:append_text(", " .. info)

	if tvb:len() < tvb:reported_len() then
		tree:add_proto_expert_info(e.cut)
		info = info .. " [cut short]"
	elseif last < BTH_LEN or tvb(bth_at.pad, 1):bitfield(2, 2) ~= 0 then
		-- The packet has no room for the CRC, or it is padded.
		tree:add_proto_expert_info(e.length)
		info = info .. " [malformed]"
	else
		info = info .. show_header(op, tvb, last, tree)
		show_icrc(tvb, tree)
	end
	pinfo.cols.info:set(info)
	return tvb:len()
end

-- ---- registration --------------------------------------------------------

local extra_port

udp_ports:add(ROCE_PORT, mxe)

function mxe.prefs_changed()
	if extra_port then
		udp_ports:remove(extra_port, mxe)
		extra_port = nil
	end
	if mxe.prefs.port ~= ROCE_PORT and mxe.prefs.port ~= 0 then
		extra_port = mxe.prefs.port
		udp_ports:add(extra_port, mxe)
	end
end
