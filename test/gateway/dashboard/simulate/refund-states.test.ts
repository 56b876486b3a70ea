import { expect, it } from 'vitest';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { idIn, type SandboxFixture, sandboxFixture, stateOn, stepsOn } from './sandbox-fixture.ts';

const fixture = await sharedDashboard();

/** A case of a Pix sale whose money is on its way. */
async function processing({ sell, visitor, step }: SandboxFixture): Promise<SeenPage> {
  const sale = await sell({ method: 'INSTANT_TRANSFER', fees: '0' });
  const opened = await visitor.submit(sale, '/simulate/refund-cases', { who: 'MERCHANT' });
  expect(stateOn(opened)).toBe('APPROVED_FOR_EXECUTION');
  return step(await step(opened, 'start'), 'complete');
}

/** How the panel leads to each state. */
const WAYS: Readonly<Record<string, (panel: SandboxFixture) => Promise<SeenPage>>> = {
  MERCHANT_REVIEW: ({ openCase }) => openCase(),
  SERVICE_REVIEW: async ({ openCase, step }) => step(await openCase(), 'contest'),
  APPROVED_FOR_EXECUTION: async ({ openCase, step }) => step(await openCase(), 'approve'),
  FUNDING_REQUIRED: async ({ openCase, step }) =>
    step(await step(await openCase({ who: 'INSTANT' }), 'start'), 'complete'),
  PROCESSING: processing,
  SUCCEEDED: async (panel) => panel.step(await processing(panel), 'succeeded'),
  FAILED: async (panel) => panel.step(await processing(panel), 'failed'),
  CANCELED: async ({ openCase, step }) => step(await openCase(), 'cancel'),
  REJECTED: async ({ openCase, step }) => step(await step(await openCase(), 'contest'), 'review-reject'),
};

it('reaches each of the nine statuses, and the refunds page shows each', async () => {
  const panel = await sandboxFixture(fixture);
  const { visitor, home } = panel;
  for (const [state, way] of Object.entries(WAYS)) {
    const reached = await way(panel);
    expect([state, reached.status, stateOn(reached)]).toEqual([state, 200, state]);
    const id = idIn(reached);
    const alone = await visitor.get(`${home}/refunds/${id}`);
    expect(stateOn(alone)).toBe(state);
    const listed = await visitor.get(`${home}/refunds?status=${state}`);
    const [row] = listed.document.querySelectorAll('tbody tr').filter((one) => one.innerHTML.includes(id));
    expect(row?.querySelector('.badge')?.text).toBe(alone.document.querySelector('.badge')?.text);
  }
});

it('shows only the possible steps, and every step shown works', async () => {
  const panel = await sandboxFixture(fixture);
  const { step } = panel;
  const waiting = await panel.openCase();
  expect(stepsOn(waiting)).toEqual(
    ['add-blocker', 'announce-deadline', 'approve', 'cancel', 'contest', 'open-dispute'].sort(),
  );
  const blocked = await step(waiting, 'add-blocker', { blocker: 'MERCHANT_NOT_ACTIVE' });
  const approved = await step(blocked, 'approve');
  expect(stateOn(approved)).toBe('APPROVED_FOR_EXECUTION');
  expect(stepsOn(approved)).not.toContain('start');
  const free = await step(approved, 'clear-blocker');
  expect(stepsOn(free)).toEqual(['add-blocker', 'cancel', 'open-dispute', 'start']);
  const disputed = await step(free, 'open-dispute');
  expect(stateOn(disputed)).toBe('SERVICE_REVIEW');
  expect(stepsOn(disputed)).not.toContain('review-approve');
  expect(stepsOn(disputed)).not.toContain('submit-response');
  expect(stepsOn(disputed)).not.toContain('reverse-dispute');
  const list = await panel.visitor.get(`${panel.home}/disputes`);
  const dispute = list.document.querySelector('tbody a')!.getAttribute('href')!;
  await panel.visitor.submit(dispute, '/respond', { response: 'Delivered.' });
  const responded = await panel.visitor.get(disputed.path);
  expect(stepsOn(responded)).toContain('submit-response');
  const submitted = await step(responded, 'submit-response');
  expect(stepsOn(submitted)).not.toContain('submit-response');
  const won = await step(submitted, 'win-dispute');
  expect(stepsOn(won)).toContain('review-approve');
  const started = await step(await step(won, 'review-approve', { reviewer: 'RISK_POLICY' }), 'start');
  expect(stepsOn(started)).toEqual(['complete']);
  const unfunded = await step(started, 'complete');
  expect(stateOn(unfunded)).toBe('FUNDING_REQUIRED');
  await panel.sell({ gross: '5,000.00' });
  const paid = await step(await step(await step(unfunded, 'start'), 'complete'), 'submitted');
  expect(stateOn(paid)).toBe('PROCESSING');
  expect(stepsOn(paid)).toEqual(['failed', 'submitted', 'succeeded']);
  const succeeded = await step(paid, 'succeeded');
  expect(stepsOn(succeeded)).toContain('returned');
  expect(stateOn(await step(succeeded, 'returned'))).toBe('FAILED');
});

it('reverses a lost dispute, after which its case can be approved', async () => {
  const { openCase, step } = await sandboxFixture(fixture);
  const disputed = await step(await step(await openCase(), 'approve'), 'open-dispute');
  const lost = await step(disputed, 'lose-dispute');
  expect(stepsOn(lost)).not.toContain('review-approve');
  const reversed = await step(lost, 'reverse-dispute');
  expect(reversed.document.querySelector('.outcome')!.text).toContain('dispute.reversed.v1');
  expect(stepsOn(reversed)).toContain('review-approve');
  expect(stepsOn(reversed)).not.toContain('reverse-dispute');
});

it('lets the deadline approach and pass', async () => {
  const { openCase, step } = await sandboxFixture(fixture);
  const near = await step(await openCase({ asked_days_ago: '6' }), 'announce-deadline');
  expect(near.text).toContain('refund.deadline_approaching.v1');
  const overdue = await openCase({ asked_days_ago: '8' });
  expect(stepsOn(overdue)).not.toContain('announce-deadline');
  const expired = await step(overdue, 'expire');
  expect([stateOn(expired), expired.text.includes('refund.merchant_decided.v1')]).toEqual([
    'SERVICE_REVIEW',
    true,
  ]);
});

it('explains why a step was too late or too early', async () => {
  const { visitor, openCase, step } = await sandboxFixture(fixture);
  const early = await openCase();
  const refused = await step(early, 'announce-deadline');
  expect([refused.status, refused.text.includes('too early to send')]).toEqual([409, true]);
  await step(early, 'approve');
  const late = await step(early, 'contest');
  expect([late.status, late.text.includes('status of the case has changed')]).toEqual([409, true]);
  const unreasoned = await visitor.submit(await openCase(), '/contest', { reason: '  ' });
  expect([unreasoned.status, unreasoned.text.includes('Enter a reason.')]).toEqual([422, true]);
});
