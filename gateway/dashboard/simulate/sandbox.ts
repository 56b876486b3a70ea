import { SANDBOX } from '../../../services/platform/rpc/person-rules.ts';
import type { Outcome } from '../shell/pages.ts';
import type { View } from '../shell/view.ts';
import { refusalTexts } from './refusals.texts.ts';

/** Options of pages that only the sandbox has: people use them to act as internal teams and providers. */
export const IN_SANDBOX = { ...SANDBOX, section: 'simulate', refusals: refusalTexts } as const;

/** Redirects to a page that shows the events of a step, which carry this request's id. `step` names the notice to show. */
export function redirectWithOutcome(
  view: View,
  path: string,
  step: string,
  others: Record<string, string> = {},
): Outcome {
  const query = new URLSearchParams({ ...others, notice: step, request: view.requestId });
  return { redirect: `${path}?${query}` };
}
