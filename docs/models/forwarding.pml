/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Agents of one cluster pass requests on to each other (rma/server/agent/forwarder.hpp). Can they
 * deadlock, lose a request, answer one twice, or change the order of a process's requests?
 *
 * AGENTS agents, CLIENTS processes that ask REQUESTS times each, always by agent
 * (client % AGENTS), for any agent's memory. An agent keeps what it passes on in its first pool
 * (SLOTS) until the target acknowledges it. What others pass on to it waits in its second pool:
 * WINDOW places for each of them. A sender counts its requests in flight, so it never finds that
 * full. Answers go straight to the process; with VIA back by the agent that passed the request on.
 *
 * Mutations, which the check has to find:
 *   ONE_POOL      both kinds of requests share the first pool: two agents wait for each other
 *   NO_WINDOW     a sender doesn't count: the second pool overflows
 *   NO_HOLD       a request without room is put back behind later ones: their order is lost
 *   EARLY_BYE     the target acknowledges before it answers, and the sender forgets who asked (VIA)
 *
 *   spin -a -DAGENTS=2 forwarding.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000
 */
#ifndef AGENTS
#define AGENTS 2
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#define QUEUE 2 /* frames that a process's connection holds */

/* From a process to its agent: target, number. To a process: number. */
chan asked[CLIENTS] = [QUEUE] of { byte, byte };
chan answered[CLIENTS] = [QUEUE] of { byte };
/* From agent i to agent j, at AT(i, j): client, number. Places for what is one too many, too. */
#define AT(i, j) ((i) * AGENTS + (j))
chan passed[AGENTS * AGENTS] = [WINDOW + 2] of { byte, byte };
chan back[AGENTS * AGENTS] = [WINDOW + 2] of { byte, byte, bit };
#define ANSWER 0
#define ACKNOWLEDGEMENT 1

/* What an agent carried out last for a process. */
#define FOR(agent, client) ((agent) * CLIENTS + (client))
byte last[AGENTS * CLIENTS];

inline carry_out(number_of) {
  /* A process numbers its requests, so those to one agent ascend. */
  assert(number_of > last[FOR(me, client)]);
  last[FOR(me, client)] = number_of
}

proctype Process(byte me) {
  byte sent; byte got; byte number;
  do
  :: sent < REQUESTS && len(asked[me]) < QUEUE ->
     atomic {
       sent++;
       if
       :: asked[me] ! 0, sent
#if AGENTS > 1
       :: asked[me] ! 1, sent
#endif
#if AGENTS > 2
       :: asked[me] ! 2, sent
#endif
       fi
     }
  :: answered[me] ? number -> got++; assert(got <= sent)
  :: sent == REQUESTS && got == REQUESTS -> break
  od;
  /* Nothing comes a second time. */
  end: answered[me] ? number -> assert(false)
}

#define HEAR(c) \
  :: (c) % AGENTS == me && held_for[c] == 0 && len(asked[c]) > 0 -> \
     atomic { \
       asked[c] ? target, number; \
       client = c; \
       if \
       :: target == me -> carry_out(number) \
       :: target != me -> held_for[c] = target + 1; held[c] = number; client = CLIENTS \
       fi \
     }; \
     if \
     :: client < CLIENTS -> answered[client] ! number \
     :: client == CLIENTS -> skip \
     fi

#ifdef NO_WINDOW
#define HAS_WINDOW(c) true
#else
#define HAS_WINDOW(c) (flight[held_for[c] - 1] < WINDOW)
#endif
#define PASS_ON(c) \
  :: held_for[c] > 0 && kept < SLOTS && HAS_WINDOW(c) -> \
     atomic { \
       target = held_for[c] - 1; \
       kept++; \
       flight[target]++; \
       assert(len(passed[AT(me, target)]) < WINDOW); \
       passed[AT(me, target)] ! c, held[c]; \
       held_for[c] = 0 \
     }
#define PUT_BACK(c) \
  :: held_for[c] > 0 && len(asked[c]) > 0 && len(asked[c]) < QUEUE -> \
     atomic { asked[c] ! held_for[c] - 1, held[c]; held_for[c] = 0 }

#ifdef ONE_POOL
#define HAS_PLACE (kept < SLOTS)
#else
#define HAS_PLACE true
#endif
#ifdef VIA
#define GIVE_ANSWER(o) back[AT(me, o)] ! client, number, ANSWER
#else
#define GIVE_ANSWER(o) answered[client] ! number
#endif
#ifdef EARLY_BYE
#define FINISH(o) back[AT(me, o)] ! client, number, ACKNOWLEDGEMENT; GIVE_ANSWER(o)
#else
#define FINISH(o) GIVE_ANSWER(o); back[AT(me, o)] ! client, number, ACKNOWLEDGEMENT
#endif
#define SERVE(o) \
  :: o != me && len(passed[AT(o, me)]) > 0 && HAS_PLACE -> \
     atomic { passed[AT(o, me)] ? client, number; carry_out(number) }; \
     FINISH(o)
#define TAKE_BACK(o) \
  :: o != me && len(back[AT(o, me)]) > 0 -> \
     back[AT(o, me)] ? client, number, what; \
     if \
     :: what == ACKNOWLEDGEMENT -> kept--; flight[o]-- \
     :: what == ANSWER -> \
        /* Who asked is known for as long as the request is kept. */ \
        assert(flight[o] > 0); \
        answered[client] ! number \
     fi

#if CLIENTS == 1
#define ALL_CLIENTS(what_of) what_of(0)
#elif CLIENTS == 2
#define ALL_CLIENTS(what_of) what_of(0) what_of(1)
#else
#define ALL_CLIENTS(what_of) what_of(0) what_of(1) what_of(2)
#endif
#if AGENTS == 2
#define ALL_AGENTS(what_of) what_of(0) what_of(1)
#else
#define ALL_AGENTS(what_of) what_of(0) what_of(1) what_of(2)
#endif

proctype Agent(byte me) {
  byte kept;              /* of the first pool */
  byte flight[AGENTS];    /* of those, to each other agent */
  byte held_for[CLIENTS]; /* 1 + target of a request that has no room yet */
  byte held[CLIENTS];     /* its number */
  byte client; byte target; byte number; bit what;
end:
  do
  ALL_CLIENTS(HEAR)
  ALL_CLIENTS(PASS_ON)
#ifdef NO_HOLD
  ALL_CLIENTS(PUT_BACK)
#endif
  ALL_AGENTS(SERVE)
  ALL_AGENTS(TAKE_BACK)
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. AGENTS - 1) { run Agent(i) }
    for (i : 0 .. CLIENTS - 1) { run Process(i) }
  }
}
