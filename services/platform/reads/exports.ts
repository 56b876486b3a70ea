import type { Message } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { Database } from '../database/database.ts';
import { isTransactionTimeout } from '../database/database-errors.ts';
import type { Snapshot } from '../database/snapshot.ts';
import { aborted, resourceExhausted } from '../errors.ts';
import { type SlotLimits, Slots } from '../process/slots.ts';
import { type Tenant, type TenantFields, tenantOf } from '../tenant.ts';
import { auditRow, recordAudit } from '../writes/audit.ts';
import type { Writes } from '../writes/writes.ts';
import { type ListOrder, type PageRange, positionOf } from './list-order.ts';
import type { PreparedRead } from './prepared-read.ts';

/** Each holds a connection for reads. */
const EXPORTS: SlotLimits = { live: 4, test: 2, perOwner: 2 };
const LIMITS = { totalMs: 300_000, idleMs: 30_000 };
const ROWS_PER_MESSAGE = 500;

type Read = Snapshot['read'];

/**
 * Streams whole lists of a merchant. All messages of an export come from one snapshot, a page of rows at a time and no
 * faster than its caller takes them, and each export is recorded in the audit trail.
 */
export class Exports {
  readonly #database: Database;
  readonly #writes: Writes;
  readonly #slots = new Slots(EXPORTS);

  constructor(database: Database, writes: Writes) {
    this.#database = database;
    this.#writes = writes;
  }

  /**
   * Runs an export. RESOURCE_EXHAUSTED (TOO_MANY_EXPORTS) while too many run, ABORTED (EXPORT_TOO_SLOW) when the caller
   * does not keep up.
   */
  async *run<Response>(
    request: Message & TenantFields,
    context: HandlerContext,
    work: (read: Read, tenant: Tenant) => AsyncGenerator<Response>,
  ): AsyncGenerator<Response> {
    const tenant = tenantOf(request);
    await this.#writes.checkPerson(tenant, context);
    // An abort that has happened is not announced again, and the slot would stay taken.
    context.signal.throwIfAborted();
    const release = this.#slots.acquire(tenant.environment, tenant.merchantId);
    if (typeof release === 'string') {
      throw resourceExhausted('TOO_MANY_EXPORTS', 'too many exports at once; try again');
    }
    const held = new AsyncDisposableStack();
    held.defer(release);
    // A generator whose caller has disconnected may stay suspended forever.
    const end = () => void held.disposeAsync();
    const timer = setTimeout(end, LIMITS.totalMs).unref();
    context.signal.addEventListener('abort', end, { once: true });
    try {
      await this.#writes.transaction(tenant, context, (_tx, em) =>
        recordAudit(em, [auditRow(tenant, request, context)]),
      );
      const snapshot = await this.#database.snapshot(LIMITS);
      if (held.disposed) await snapshot[Symbol.asyncDispose]();
      else held.use(snapshot);
      yield* work((query) => snapshot.read(query), tenant);
    } catch (error) {
      // The snapshot was ended: by the server, which closes its connection, or by `end`.
      if (isTransactionTimeout(error) || held.disposed)
        throw aborted('EXPORT_TOO_SLOW', 'the export took too long');
      throw error;
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', end);
      await held.disposeAsync();
    }
  }
}

/** An export of the rows of a list, a message for each page. */
export function exportRows<Row, Response>(
  exports: Exports,
  request: Message & TenantFields,
  context: HandlerContext,
  {
    order,
    select,
    respond,
  }: {
    readonly order: ListOrder<Row>;
    select(page: Tenant & PageRange): PreparedRead<Row>;
    respond(rows: readonly Row[]): Response | Promise<Response>;
  },
): AsyncGenerator<Response> {
  return exports.run(request, context, async function* (read, tenant) {
    for await (const rows of everyPage(read, order, (range) => select({ ...tenant, ...range }))) {
      yield await respond(rows);
    }
  });
}

/** Reads every row of a list in its order, a page at a time. */
export async function* everyPage<Row>(
  read: Read,
  order: ListOrder<Row>,
  select: (range: PageRange) => PreparedRead<Row>,
): AsyncGenerator<Row[]> {
  let [after, afterTie]: readonly (string | undefined)[] = [];
  for (;;) {
    const rows: Row[] = await read(select({ after, afterTie, limit: ROWS_PER_MESSAGE }));
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_MESSAGE) return;
    [after, afterTie] = positionOf(order, rows.at(-1)!);
  }
}
