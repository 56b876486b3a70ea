import type { Static, TObject } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { REQUEST_ID_HEADER } from '../../../services/platform/rpc/in-process-transport.ts';
import { noSuchPage } from '../shell/failures.ts';
import type { Outcome, Pages } from '../shell/pages.ts';
import type { Page, View } from '../shell/view.ts';
import { simulateTexts } from './simulate.texts.ts';

type Params = Readonly<Record<string, string>>;

const PLACE = { role: Role.DEVELOPER, section: 'simulate', side: 'sandbox' } as const;

/**
 * The pages and actions of the sandbox alone. What they do is the work of internal teams and providers: in live there is
 * none of them, whoever asks.
 */
export class SandboxPages {
  readonly #pages: Pages;

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  page<Query extends TObject>(
    options: { readonly path: string; readonly query: Query },
    draw: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Page>,
  ): void {
    this.#pages.page({ ...options, ...PLACE }, (view, input) => draw(requireSandbox(view), input));
  }

  action<Form extends TObject>(
    options: { readonly path: string; readonly form: Form },
    act: (view: View, input: { params: Params; form: Static<Form>; key: string }) => Promise<Outcome>,
  ): void {
    this.#pages.action({ ...options, ...PLACE, refusals: simulateTexts }, (view, input) =>
      act(requireSandbox(view), input),
    );
  }
}

/** A second lock on the same guard. */
function requireSandbox(view: View): View {
  if (view.side !== 'sandbox') throw noSuchPage();
  return view;
}

/** The id of the request that is being answered; the events that it causes carry it. */
function requestIdOf({ call }: View): string {
  return (call.headers as Record<string, string>)[REQUEST_ID_HEADER] ?? '';
}

/** Where a step leads: to a page that tells what came of it. */
export function told(view: View, path: string, step: string, others: Record<string, string> = {}): Outcome {
  const query = new URLSearchParams({ ...others, notice: step, request: requestIdOf(view) });
  return { redirect: `${path}?${query}` };
}
