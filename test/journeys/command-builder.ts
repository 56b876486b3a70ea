import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { type BlockReason, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { type RefundCase, RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { newTenant, newWrite, type TestTenant } from '../support/harness.ts';

/** The random choices of a command. */
export interface Draw {
  readonly name: string;
  readonly account: number;
  /** Whether it names an object of another tenant. */
  readonly foreign: boolean;
  /** Whether it is sent twice at once with its key, if no other command runs. */
  readonly twice: boolean;
  /** Which of the existing objects, counted from the newest. */
  readonly at: number;
  readonly choice: number;
  readonly amountMinor: bigint;
}

export interface Payment {
  readonly id: string;
  readonly paidMinor: bigint;
  readonly on: string;
  readonly saleId: string | undefined;
  readonly productId: string | undefined;
}

interface Known {
  readonly sales: { readonly id: string; readonly grossMinor: bigint };
  readonly payments: Payment;
  readonly cases: RefundCase;
  readonly disputes: { readonly id: string; readonly saleId: string | undefined };
  readonly holds: Hold;
  readonly deductions: { readonly id: string };
  readonly waits: { readonly id: string };
  readonly debits: { readonly id: string };
  readonly quotes: { readonly id: string };
  readonly advances: { readonly id: string };
  readonly products: { readonly id: string };
  readonly prices: { readonly id: string };
  readonly offers: { readonly id: string };
}

interface Hold {
  readonly id: string;
  readonly saleId: string;
  readonly sourceId: string;
  readonly reason: BlockReason;
}

/** All services as the commands call them. */
export const clientsOf = (transport: Transport) => ({
  refunds: createClient(RefundCaseService, transport),
  funds: createClient(FundsService, transport),
  advances: createClient(AdvanceService, transport),
  products: createClient(ProductService, transport),
});
export type Clients = ReturnType<typeof clientsOf>;

/** A merchant in an environment, with what responses have revealed about it. */
export class Account {
  readonly tenant: TestTenant;
  readonly #known = new Map<keyof Known, Map<string, unknown>>();

  constructor(tenant = newTenant()) {
    this.tenant = tenant;
  }

  known<K extends keyof Known>(kind: K): Known[K][] {
    return [...(this.#known.get(kind)?.values() ?? [])] as Known[K][];
  }

  learn<K extends keyof Known>(kind: K, one: Known[K] | undefined): void {
    const ones = this.#known.get(kind) ?? new Map<string, unknown>();
    if (one) this.#known.set(kind, ones.set(one.id, one));
  }
}

/** A command to be sent, which picks the objects that it names from those that exist. */
export class CommandBuilder {
  readonly account: Account;
  readonly clients: Clients;
  readonly draw: Draw;
  readonly on: string;
  readonly #other: Account;
  /** Whether it names something that its tenant does not have. */
  missing = false;

  constructor(clients: Clients, account: Account, other: Account, on: string, draw: Draw) {
    this.clients = clients;
    this.account = account;
    this.draw = draw;
    this.on = on;
    this.#other = other;
  }

  write() {
    return { ...newWrite(this.account.tenant), occurredAt: noon(this.on) };
  }

  /** An object of its own tenant, if there is any. */
  own<K extends keyof Known>(kind: K): Known[K] | undefined {
    return newestFirst(this.account.known(kind), this.draw.at);
  }

  /** An object of its own tenant. If it is of another tenant or undefined, the command must get NOT_FOUND. */
  one<K extends keyof Known>(kind: K): Known[K] | undefined {
    const found = this.draw.foreign ? newestFirst(this.#other.known(kind), this.draw.at) : this.own(kind);
    if (this.draw.foreign || !found) this.missing = true;
    return found;
  }

  id(kind: keyof Known): string {
    return this.one(kind)?.id ?? randomUUID();
  }

  pick<T>(...choices: T[]): T {
    return choices[this.draw.choice % choices.length]!;
  }
}

const newestFirst = <T>(all: readonly T[], index: number): T | undefined => all.at(-1 - (index % all.length));
export const noon = (on: string) => timestampFromDate(new Date(`${on}T15:00:00Z`));
