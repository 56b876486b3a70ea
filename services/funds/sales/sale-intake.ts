import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  type RecordSaleRequest,
  type RecordSaleResponse,
  RecordSaleResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DomainError } from '../../platform/errors.ts';
import { type Tenant, tenantOf } from '../../platform/tenant.ts';
import { auditRow } from '../../platform/writes/audit.ts';
import { idempotencyScope, lockNameOf } from '../../platform/writes/idempotency-records.ts';
import type { AccountWrites } from '../account-writes.ts';
import { saleInstallmentMessage } from '../funds.message.ts';
import type { NewSale } from './new-sales.ts';
import { CallerStoppedWaiting, recordSalesTogether, type SaleCall } from './record-sales-together.ts';

interface PendingCall extends SaleCall {
  readonly context: HandlerContext;
  resolve(response: RecordSaleResponse | undefined): void;
  reject(error: unknown): void;
}

const MAX_GROUP_SIZE = 100;

/**
 * Groups sales: those of one account that wait while another call writes to it share the next transaction. A sale that
 * needs special handling (its key is used or in use, it is recorded or held, it is refused, the account has debts, its
 * caller has disconnected) is left for a transaction of its own and does not delay the others.
 */
export class SaleIntake {
  readonly #writes: AccountWrites;
  /** The calls to record by account, for each account with a running group. */
  readonly #pending = new Map<string, PendingCall[]>();

  constructor(writes: AccountWrites) {
    this.#writes = writes;
  }

  /**
   * Records a valid sale once per idempotency key. Returns undefined, and has recorded nothing, if the sale needs a
   * transaction of its own.
   */
  record(
    request: RecordSaleRequest,
    context: HandlerContext,
    sale: NewSale,
  ): Promise<RecordSaleResponse | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<RecordSaleResponse | undefined>();
    const installments = sale.installments.map(saleInstallmentMessage);
    const call: PendingCall = {
      scope: idempotencyScope(request, context),
      sale,
      response: create(RecordSaleResponseSchema, { saleId: sale.id, installments }),
      isAwaited: () => !context.signal.aborted,
      context,
      audit: auditRow(tenantOf(request), request, context),
      resolve,
      reject,
    };
    const tenant = tenantOf(request);
    const account = `${tenant.merchantId} ${tenant.environment}`;
    const pending = this.#pending.get(account);
    if (pending) pending.push(call);
    else {
      this.#pending.set(account, [call]);
      void this.#run(account, tenant);
    }
    return promise;
  }

  async #run(account: string, tenant: Tenant): Promise<void> {
    // Node handles calls that arrive together one after the other: let all of them join the first transaction.
    await new Promise(setImmediate);
    while (this.#pending.get(account)!.length > 0) await this.#recordGroup(account, tenant);
    this.#pending.delete(account);
  }

  /** The calls join the group until its turn comes. */
  async #recordGroup(account: string, tenant: Tenant): Promise<void> {
    const { values } = this.#pending.get(account)![0]!.context;
    const { signal } = new AbortController();
    let group: PendingCall[] | undefined;
    try {
      const recorded = await this.#writes.transaction(tenant, { values, signal }, (tx, em) => {
        group ??= this.#nextGroup(account);
        return recordSalesTogether(tx, em, group);
      });
      for (const call of group!) call.resolve(recorded.has(call.sale.id) ? call.response : undefined);
    } catch (error) {
      group ??= this.#nextGroup(account);
      if (error instanceof DomainError) for (const call of group) call.reject(error);
      else if (error instanceof CallerStoppedWaiting) this.#retry(account, group);
      else for (const call of group) call.resolve(undefined);
    }
  }

  /** Puts the calls whose callers are still waiting first in the next group. */
  #retry(account: string, group: readonly PendingCall[]): void {
    const waiting = group.filter(({ isAwaited }) => isAwaited());
    this.#pending.set(account, [...waiting, ...this.#pending.get(account)!]);
    for (const call of group) if (!call.isAwaited()) call.resolve(undefined);
  }

  /**
   * The first pending calls, with each key and each sale once: a key's lock does not exclude the transaction that
   * holds it.
   */
  #nextGroup(account: string): PendingCall[] {
    const group: PendingCall[] = [];
    const rest: PendingCall[] = [];
    const taken = new Set<string>();
    for (const call of this.#pending.get(account)!) {
      const names = [call.sale.id, lockNameOf(call.scope)];
      if (group.length === MAX_GROUP_SIZE || names.some((name) => taken.has(name))) rest.push(call);
      else group.push(call);
      for (const name of names) taken.add(name);
    }
    this.#pending.set(account, rest);
    return group;
  }
}
