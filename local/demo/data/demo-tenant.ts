import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import { v5 as uuidv5 } from 'uuid';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductService } from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';
import type { TenantFields } from '../../../services/platform/tenant.ts';

const NAMESPACE = '6f3d1c9a-52b1-4a0e-9b7e-0c64b7a2d5e1';

/** How much a demo merchant has in one environment. */
export interface DemoSize {
  readonly sales: number;
  readonly refundCases: number;
  readonly pastAdvances: number;
  readonly openAdvances: number;
}

/** Several pages of every list. */
export const FULL_SIZE: DemoSize = { sales: 110, refundCases: 110, pastAdvances: 48, openAdvances: 10 };
/** Each state of every record. */
export const SMALL_SIZE: DemoSize = { sales: 40, refundCases: 32, pastAdvances: 12, openAdvances: 3 };

/**
 * A demo merchant in one environment. Ids, idempotency keys and pseudo-random values derive from the merchant, the
 * environment and today's date: every machine gets the same demo data on the same day, and an interrupted run can be
 * repeated.
 */
export class DemoTenant {
  /** The common fields of every request. */
  readonly tenant: TenantFields;
  readonly size: DemoSize;
  readonly clients;
  readonly #today: string;
  readonly #yesterday: Date;
  readonly #seed: string;
  #state: number;

  constructor(transport: Transport, tenant: TenantFields, today: Date, size = FULL_SIZE) {
    this.tenant = tenant;
    this.size = size;
    this.clients = {
      refunds: createClient(RefundCaseService, transport),
      products: createClient(ProductService, transport),
      funds: createClient(FundsService, transport),
      advances: createClient(AdvanceService, transport),
    };
    this.#today = today.toISOString().slice(0, 10);
    this.#yesterday = new Date(Date.parse(`${this.#today}T15:00:00Z`) - DAY_MS);
    this.#seed = `${tenant.merchantId}/${tenant.environment}/${this.#today}`;
    this.#state = Number.parseInt(uuidv5(this.#seed, NAMESPACE).slice(0, 8), 16);
  }

  /** The common fields of every write. */
  write(step: string) {
    return { ...this.tenant, idempotencyKey: `demo-${this.#today}-${step}` };
  }

  /** A stable id for a name. */
  id(name: string): string {
    return uuidv5(`${this.#seed}/${name}`, NAMESPACE);
  }

  /** A pseudo-random integer between two inclusive bounds; the same sequence for the same tenant and day. */
  between(min: number, max: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return min + Math.floor((this.#state / 2 ** 32) * (max - min + 1));
  }

  /** The n-th value of a list, starting over at its end. */
  pick<T>(values: readonly T[], n: number): T {
    return values[n % values.length]!;
  }

  /** A number of days, or a fraction, before yesterday noon in São Paulo, which is always in the past. */
  daysAgo(days: number): Timestamp {
    return timestampFromDate(new Date(this.#yesterday.getTime() - days * DAY_MS));
  }
}
