import type { Static, TObject } from 'typebox';
import { REQUEST_ID_HEADER } from '../../../services/platform/rpc/call-context.ts';
import { SANDBOX } from '../../../services/platform/rpc/person-rules.ts';
import type { Outcome, Pages } from '../shell/pages.ts';
import type { Page, View } from '../shell/view.ts';
import { refusalTexts } from './refusals.texts.ts';

type Params = Readonly<Record<string, string>>;

const SPEC = { ...SANDBOX, section: 'simulate' } as const;

/**
 * Registers pages and actions that exist in the sandbox only: they do what internal teams and providers do in live.
 */
export class SandboxPages {
  readonly #pages: Pages;

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  page<Query extends TObject>(
    options: { readonly path: string; readonly query: Query },
    render: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Page>,
  ): void {
    this.#pages.page({ ...options, ...SPEC }, render);
  }

  action<Form extends TObject>(
    options: { readonly path: string; readonly form: Form },
    act: (view: View, input: { params: Params; form: Static<Form>; key: string }) => Promise<Outcome>,
  ): void {
    this.#pages.action({ ...options, ...SPEC, refusals: refusalTexts }, act);
  }
}

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
