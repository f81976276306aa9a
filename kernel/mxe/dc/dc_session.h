/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of dynamically connected (DC) sessions, as pure functions.  dci.c
 * and dct.c apply them, and the model checker in dc_test.c explores them.
 *
 * An initiator numbers its sessions.  Initiators that get the same QP number
 * one after the other differ by an instance number of 64 bits, which is a part
 * of the address of an initiator here.  A request is executed at most once
 * because a target accepts each session number of an initiator at most once:
 *
 *  - The target remembers the newest session that it has accepted, while it is
 *    open and MXE_DC_RECORD_TIME longer.  It accepts only newer ones meanwhile.
 *    If it leaves RTR, it closes all sessions, but remembers them for as long
 *    as if they were idle.
 *  - A target without such a record accepts a session only with a token.  The
 *    token proves that the initiator was in this session after the record had
 *    expired, because tokens are valid for less time than a record is kept.
 *  - A demand for a token says for how long no other target has had the number.
 *    Earlier ones, before the host or mxe was restarted, are forgotten.
 *  - The initiator obeys the demand only before the first response of the
 *    session, and only if the target would know the session if a target with
 *    this number had accepted it: the session is younger than the number, and
 *    younger than the time for which the target keeps it open.  An initiator
 *    retries for less time than that, unless its host is suspended meanwhile.
 */
#ifndef MXE_DC_SESSION_H
#define MXE_DC_SESSION_H

#include <linux/types.h>

/*
 * Times in seconds.  A token is valid in the interval in which it was made and
 * in the next one.
 */
#define MXE_DC_TOKEN_TIME	4
#define MXE_DC_RECORD_TIME	(3 * MXE_DC_TOKEN_TIME)
/*
 * The longest time, in ms, for which a target keeps an idle session.  With the
 * largest timeout and 7 retries, an initiator asks for 563 million.
 */
#define MXE_DC_MAX_LIFE		600000000
/*
 * Demands for a token that an initiator obeys at once in a session.  One is
 * normal.  Expired tokens cause more.  Each demand causes a full
 * retransmission, so without a limit, a target could make the initiator send
 * many packets.
 */
#define MXE_DC_MAX_CHALLENGES	4

/*
 * The initiator compares its own clock with that of the target.  Their rates
 * differ by less than one part in this number.  NTP changes the rate of a clock
 * by 500 parts per million at most.
 */
#define MXE_DC_CLOCK_RATES	512

/* Codes of control packets.  Those above 1 are sent by targets. */
enum mxe_dc_code {
	MXE_DC_DATA		= 0,	/* not a control packet */
	MXE_DC_DISCONNECT	= 1,
	MXE_DC_CHALLENGE	= 2,	/* connect again with this token */
	MXE_DC_STALE		= 3,	/* token has the newest session */
	MXE_DC_NO_SESSION	= 4,
	MXE_DC_BUSY		= 5,	/* no room for the session */
	MXE_DC_BAD_KEY		= 6,
	MXE_DC_REFUSED		= 7,	/* path MTU or life exceeds the limit */
};

/* The knowledge of a target of one initiator. */
struct mxe_dct_record {
	bool known;
	bool open;			/* the session has a responder */
	u32 session;			/* newest accepted */
};

enum mxe_dct_verdict {
	MXE_DCT_DELIVER,		/* to the responder of the session */
	MXE_DCT_ACCEPT,			/* open the session */
	MXE_DCT_CHALLENGE,
	MXE_DCT_STALE,
	MXE_DCT_NO_SESSION,
};

/*
 * Decide what a target that has @record of an initiator does with its request.
 * @connect: the packet has CONNECT. @token_ok: it has a valid token.
 */
static inline enum mxe_dct_verdict
mxe_dct_judge(const struct mxe_dct_record *record, bool connect, u32 session,
	      bool token_ok)
{
	if (record->known && record->open && record->session == session)
		return MXE_DCT_DELIVER;
	if (!connect)
		return MXE_DCT_NO_SESSION;
	if (record->known)
		return (s32)(session - record->session) > 0 ? MXE_DCT_ACCEPT :
							      MXE_DCT_STALE;
	return token_ok ? MXE_DCT_ACCEPT : MXE_DCT_CHALLENGE;
}

/* The session of an initiator. */
struct mxe_dci_session {
	u32 session;
	u64 token;			/* 0: none */
	bool acked;			/* a response has arrived */
	u8 challenges;			/* obeyed */
};

enum mxe_dci_reaction {
	MXE_DCI_IGNORE,
	MXE_DCI_RESEND,			/* everything that is unacknowledged */
	MXE_DCI_WAIT,			/* as after an RNR NAK */
	MXE_DCI_BAD_KEY,
	MXE_DCI_REFUSED,
	MXE_DCI_LOST,			/* the target has lost the session */
};

/**
 * mxe_dci_would_know() - Check whether a target would know a session if it, or
 *	an earlier one with its number, had accepted it.
 * @elapsed: time since the session began, by the clock of the initiator
 * @life: time for which the target keeps an idle session
 * @age: time for which no other target has had the number, by the clock of the
 *	target when it demanded a token
 *
 * All have the same unit.
 *
 * Return: true if it would.
 */
static inline bool mxe_dci_would_know(u64 elapsed, u64 life, u64 age)
{
	/* The most that it can be by the clock of the target. */
	elapsed += elapsed / MXE_DC_CLOCK_RATES;
	return elapsed < life && elapsed <= age;
}

/*
 * Decide what an initiator does with a control packet with @code, @session and
 * @token. Update @s for a resend. @would_know is the result of
 * mxe_dci_would_know() if the code is MXE_DC_CHALLENGE.
 */
static inline enum mxe_dci_reaction
mxe_dci_react(struct mxe_dci_session *s, u8 code, u32 session, u64 token,
	      bool would_know)
{
	/* Late control packets refer to earlier sessions. */
	if (session != s->session)
		return MXE_DCI_IGNORE;
	if (code == MXE_DC_NO_SESSION)
		return s->acked ? MXE_DCI_LOST : MXE_DCI_IGNORE;
	/* The others answer CONNECT, and are late after the first response. */
	if (s->acked)
		return MXE_DCI_IGNORE;

	switch (code) {
	case MXE_DC_CHALLENGE:
		/* The target may have executed and forgotten the session. */
		if (!would_know)
			return MXE_DCI_LOST;
		if (token == s->token)
			return MXE_DCI_IGNORE;
		s->token = token;
		/* The next retransmission has it in any case. */
		if (s->challenges == MXE_DC_MAX_CHALLENGES)
			return MXE_DCI_IGNORE;
		s->challenges++;
		return MXE_DCI_RESEND;
	case MXE_DC_STALE:
		/* The target has accepted this session, and closed it. */
		return token == session ? MXE_DCI_LOST : MXE_DCI_IGNORE;
	case MXE_DC_BUSY:
		return MXE_DCI_WAIT;
	case MXE_DC_BAD_KEY:
		return MXE_DCI_BAD_KEY;
	case MXE_DC_REFUSED:
		return MXE_DCI_REFUSED;
	default:
		return MXE_DCI_IGNORE;
	}
}

#endif /* MXE_DC_SESSION_H */
