import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { verifyFunds } from '../funds/verification/verify-funds.ts';
import { advancesCaller } from './advances-caller.ts';

const harness = await startHarness({ SERVICES: 'funds,advances' });
afterAll(async () => {
  await verifyFunds(harness);
  await harness.close();
});

const MOVES = ['approve', 'refuse', 'release', 'settle'] as const;
type Move = (typeof MOVES)[number];
type State = keyof typeof AdvanceRequestStatus;

/** Every transition: from a state, by an RPC, to a state. */
const TRANSITIONS: Readonly<Partial<Record<State, Partial<Record<Move, State>>>>> = {
  PENDING_REVIEW: { approve: 'APPROVED', refuse: 'REFUSED' },
  APPROVED: { refuse: 'REFUSED', release: 'RELEASED' },
  RELEASED: { settle: 'SETTLED' },
  REFUSED: {},
  SETTLED: {},
};
/** How a request reaches each state. */
const WAY_TO: Readonly<Partial<Record<State, readonly Move[]>>> = {
  PENDING_REVIEW: [],
  APPROVED: ['approve'],
  RELEASED: ['approve', 'release'],
  REFUSED: ['refuse'],
  SETTLED: ['approve', 'release', 'settle'],
};
const EVENTS = { approve: 'approved', refuse: 'refused', release: 'released', settle: 'settled' };

describe('an advance request', () => {
  const states = Object.keys(TRANSITIONS) as State[];
  /** A request in this state. */
  async function inState(state: State) {
    const merchant = await advancesCaller(harness.transports.inProcess);
    const quote = await merchant.quote();
    const { id } = await merchant.request(quote.id);
    for (const step of WAY_TO[state]!) await merchant[step](id);
    const before = await merchant.get(id);
    expect(before.status).toBe(AdvanceRequestStatus[state]);
    const requestAgain = () =>
      expectRefusal(merchant.request(quote.id), Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED', {
        advanceRequestId: id,
      });
    return { merchant, id, before, events: await eventsOf(id), requestAgain };
  }

  const allowed = states.flatMap((state) =>
    Object.entries(TRANSITIONS[state]!).map(([move, to]) => ({ state, move: move as Move, to })),
  );
  it.each(allowed)('$state becomes $to by $move', async ({ state, move, to }) => {
    const { merchant, id, events, requestAgain } = await inState(state);
    const after = await merchant[move](id);
    expect(after.status).toBe(AdvanceRequestStatus[to]);
    expect(await merchant.get(id)).toEqual(after);
    const event = { type: `advance.${EVENTS[move]}.v1`, sequence: events.length + 1 };
    expect(await eventsOf(id)).toEqual([...events, event]);
    await requestAgain();
  });

  it.each(states)('%s refuses every other move, and does not change', async (state) => {
    const { merchant, id, before, events, requestAgain } = await inState(state);
    for (const move of MOVES.filter((each) => !TRANSITIONS[state]![each])) {
      const refused = { status: state, releaseStarted: 'false' };
      await expectRefusal(merchant[move](id), Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', refused);
      expect([move, await merchant.get(id)]).toEqual([move, before]);
      expect([move, await eventsOf(id)]).toEqual([move, events]);
    }
    await requestAgain();
  });
});

async function eventsOf(objectId: string) {
  const ordered = 'select type, sequence::int from webhooks.event where object_id = $1 order by sequence';
  return sqlOf<{ type: string; sequence: number }>(harness, ordered, [objectId]);
}
