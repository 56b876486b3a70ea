import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { addDays } from '../../../services/platform/civil-date.ts';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { AccountModel, type Outcome } from './account-model.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';
import type { Bound, FundsCommand, Situation } from './funds-commands.ts';
import { expectCalendar, expected, type ObservedFunds, observe } from './observed-funds.ts';
import { expectSales, expectSalesBehindRows } from './sales/observed-sales.ts';
import { expectStatement } from './statement/observed-statement.ts';
import { verifyFunds } from './verification/verify-funds.ts';

type Batch = readonly { readonly account: number; readonly command: FundsCommand }[];

/** Commands that run at once, each on one of the accounts, or days that pass. */
export type Step = { readonly days: number } | { readonly batch: Batch };

const START = '2020-06-01';

interface Account {
  readonly caller: FundsCaller;
  readonly sales: string[];
  model: AccountModel;
  quote: Situation['quote'];
}

/**
 * Plays steps on two merchants, one of them in both environments. After each step, the changed accounts must equal
 * their models in every installment, row, day, debt and outcome; for concurrent commands, in one of their orders. At
 * the end the sales must equal the models', and those behind each row and day must add up to it.
 */
export class FundsPlay {
  readonly #harness: TestHarness;
  readonly #accounts: readonly Account[];
  #on = START;
  /** Of each command played: its name, and OK or the reason of its refusal. */
  readonly outcomes: string[] = [];

  constructor(harness: TestHarness) {
    this.#harness = harness;
    const live = newTenant();
    const tenants = [live, { ...live, environment: Environment.TEST }, newTenant()];
    this.#accounts = tenants.map((tenant) => ({
      caller: fundsCaller(harness.transports.inProcess, tenant),
      sales: [],
      quote: [],
      model: newModel(),
    }));
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if ('days' in step) this.#on = addDays(this.#on, step.days);
      else await this.#runBatch(step.batch);
    }
    for (const { caller, model } of this.#accounts) {
      await expectCalendar(caller, model.funds, monthsOf(model));
      await expectSales(caller, model.funds);
      await expectSalesBehindRows(caller);
      await expectStatement(caller);
    }
  }

  async #runBatch(batch: Batch): Promise<void> {
    const touched = Map.groupBy(batch, ({ account }) => this.#accounts[account % this.#accounts.length]!);
    const running = [...touched].map(async ([account, steps]) => {
      account.model.funds.today = this.#on;
      if (steps.some(({ command }) => command.text.startsWith('reserve'))) await this.#quote(account);
      const situation: Situation = { ...account, on: this.#on };
      return { account, bound: steps.map(({ command }) => command.bind(situation)) };
    });
    const bound = await Promise.all(running);
    const called = await Promise.all(
      bound.map(async (each) => ({ ...each, outcomes: await Promise.all(each.bound.map(callTwiceIfAlone)) })),
    );
    for (const { account, bound, outcomes } of called) await this.#check(account, bound, outcomes);
  }

  /** Keeps some quotes unchanged, so that they become stale. */
  async #quote(account: Account): Promise<void> {
    if (account.quote.length > 0 && account.sales.length % 3 === 0) return;
    const { installments } = await account.caller.advanceable(this.#on);
    account.quote = installments.map(({ id, version }) => ({
      service: { installmentId: id, version },
      model: { installmentId: id, version: account.model.funds.installments.get(id)!.version },
    }));
  }

  async #check(account: Account, bound: readonly Bound[], outcomes: readonly Outcome[]): Promise<void> {
    const { caller, model: before } = account;
    const [seen] = await Promise.all([
      observe(this.#harness, caller),
      verifyFunds(this.#harness, caller.tenant),
    ]);
    account.model = inSomeOrder(before, bound, { outcomes, ...seen });
    for (const [index, outcome] of outcomes.entries()) {
      this.outcomes.push(`${bound[index]!.name} ${outcome.split(' ')[0]}`);
    }
    await expectCalendar(caller, account.model.funds, changedMonths(before, account.model));
  }
}

/** The model after the commands in an order that explains the observations; fails if none does. */
function inSomeOrder(
  before: AccountModel,
  bound: readonly Bound[],
  seen: ObservedFunds & { readonly outcomes: readonly Outcome[] },
): AccountModel {
  for (const order of permutations([...bound.keys()])) {
    const model = before.clone();
    const outcomes: Outcome[] = [];
    for (const index of order) outcomes[index] = bound[index]!.play(model);
    if (!isDeepStrictEqual(outcomes, seen.outcomes)) continue;
    if (isDeepStrictEqual({ outcomes, ...expected(model.funds) }, seen)) return model;
  }
  const model = before.clone();
  const outcomes = bound.map(({ play }) => play(model));
  expect(seen).toEqual({ outcomes, ...expected(model.funds) });
  throw new Error('what was seen is that of no order');
}

/** Sends a command that is alone on its account twice at once with its key, if it has one: it takes effect once. */
async function callTwiceIfAlone({ call, hasKey }: Bound, _: number, all: readonly Bound[]): Promise<Outcome> {
  if (all.length > 1 || !hasKey) return call();
  const outcomes = await Promise.all([call(), call()]);
  const answered = outcomes.filter((outcome) => outcome !== 'IDEMPOTENCY_KEY_IN_USE');
  expect(new Set(answered).size).toBe(1);
  return answered[0]!;
}

function newModel(): AccountModel {
  const model = new AccountModel();
  model.funds.today = START;
  return model;
}

function monthsOf({ funds }: AccountModel): Set<string> {
  return new Set([...funds.installments.values()].map(({ date }) => date.slice(0, 7)));
}

function changedMonths(before: AccountModel, after: AccountModel): Set<string> {
  const changed = [...after.funds.installments.values()].filter(
    (installment) => before.funds.installments.get(installment.id) !== installment,
  );
  return new Set(changed.slice(0, 3).map(({ date }) => date.slice(0, 7)));
}

function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first) =>
    permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  );
}
