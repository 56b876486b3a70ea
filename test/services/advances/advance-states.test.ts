import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { verifyFunds } from '../funds/verify-funds.ts';
import { advancesCaller } from './advances-caller.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'funds,advances' });
});
afterAll(() => harness.close());
afterEach(() => verifyFunds(harness));

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

describe('the states of an advance request', () => {
  const states = Object.keys(TRANSITIONS) as State[];
  const cases = states.flatMap((state) => MOVES.map((move) => ({ state, move })));
  it.each(cases)('$state and $move', async ({ state, move }) => {
    const merchant = await advancesCaller(harness.transports.inProcess);
    const quote = await merchant.quote();
    const { id } = await merchant.request(quote.id);
    for (const step of WAY_TO[state]!) await merchant[step](id);
    const before = await merchant.get(id);
    expect(before.status).toBe(AdvanceRequestStatus[state]);
    const events = await eventsOf(id);
    const to = TRANSITIONS[state]?.[move];
    if (to) {
      const after = await merchant[move](id);
      expect(after.status).toBe(AdvanceRequestStatus[to]);
      expect(await merchant.get(id)).toEqual(after);
      const event = { type: `advance.${EVENTS[move]}.v1`, sequence: events.length + 1 };
      expect(await eventsOf(id)).toEqual([...events, event]);
    } else {
      const refused = { status: state };
      await expectRefusal(merchant[move](id), Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', refused);
      expect(await merchant.get(id)).toEqual(before);
      expect(await eventsOf(id)).toEqual(events);
    }
    const again = merchant.request(quote.id);
    const taken = { advanceRequestId: id };
    await expectRefusal(again, Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED', taken);
  });
});

async function eventsOf(objectId: string) {
  const ordered = 'select type, sequence::int from webhooks.event where object_id = $1 order by sequence';
  return sqlOf<{ type: string; sequence: number }>(harness, ordered, [objectId]);
}
