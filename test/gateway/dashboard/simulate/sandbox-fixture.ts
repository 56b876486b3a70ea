import { randomUUID } from 'node:crypto';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { SeenPage, SharedDashboard, Visitor } from '../dashboard-fixture.ts';

/** A developer at the panel of a new merchant. */
export interface SandboxFixture {
  readonly visitor: Visitor;
  readonly merchantId: string;
  /** The merchant's sandbox. */
  readonly home: string;
  /** Opens a refund case at the panel; returns the panel's page of it. */
  openCase(values?: Record<string, string>): Promise<SeenPage>;
  /** Creates a sale at the panel; returns the panel's page of it. */
  sell(values?: Record<string, string>): Promise<SeenPage>;
  /** Takes a step that a page offers; returns the page that it leads to. */
  step(page: SeenPage, name: string, values?: Record<string, string>): Promise<SeenPage>;
}

/** A developer of a new merchant, at the panel. */
export async function sandboxFixture(fixture: SharedDashboard): Promise<SandboxFixture> {
  const merchantId = randomUUID();
  const visitor = await fixture.signIn({ [merchantId]: Role.DEVELOPER });
  const home = `/sandbox/${merchantId}`;
  return {
    visitor,
    merchantId,
    home,
    openCase: (values = {}) => visitor.submit(`${home}/simulate`, '/simulate/refund-cases', values),
    sell: (values = {}) => visitor.submit(`${home}/simulate`, '/simulate/sales', values),
    step: (page, name, values = {}) => visitor.submit(page, `/${name}`, values),
  };
}

/** The id that a page's address ends in. */
export const idIn = ({ path }: SeenPage) => path.split('?')[0]!.split('/').at(-1)!;

/** The steps that a page offers, by the ends of their forms' actions. */
export function stepsOn({ document }: SeenPage): string[] {
  return document
    .querySelectorAll('.steps form')
    .map((form) => form.getAttribute('action')!.split('/').at(-1)!)
    .sort();
}

/** The state's technical name that a page shows. */
export const stateOn = ({ document }: SeenPage) => document.querySelector('.badge + code')?.text;
