import { REQUEST_ID_HEADER } from '../../../services/platform/rpc/call-context.ts';
import { SANDBOX } from '../../../services/platform/rpc/person-rules.ts';
import type { Outcome } from '../shell/pages.ts';
import type { View } from '../shell/view.ts';
import { refusalTexts } from './refusals.texts.ts';

/** Of pages and actions that exist in the sandbox only: they do what internal teams and providers do in live. */
export const IN_SANDBOX = { ...SANDBOX, section: 'simulate', refusals: refusalTexts } as const;

/** The current request's id, which the events that it causes carry. */
function requestIdOf({ call }: View): string {
  return (call.headers as Record<string, string>)[REQUEST_ID_HEADER] ?? '';
}

/** Redirects to a page that shows what a step caused. `step` names the notice to show. */
export function redirectWithOutcome(
  view: View,
  path: string,
  step: string,
  others: Record<string, string> = {},
): Outcome {
  const query = new URLSearchParams({ ...others, notice: step, request: requestIdOf(view) });
  return { redirect: `${path}?${query}` };
}
