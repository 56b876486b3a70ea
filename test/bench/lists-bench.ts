import { createClient } from '@connectrpc/connect';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceRequestStatus, AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService, ApiKeyState } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { ProductService, ProductStatus } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import {
  DisputeOrder,
  DisputeOutcome,
  DisputeStatus,
  RefundCaseService,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../services/platform/civil-date.ts';
import { compareLists, uuidOf } from './list-comparison.ts';
import { SEEDED } from './seed-lists.ts';

const middle = addDays(civilDateAt(new Date()), -500);

const FILTERS = {
  products: {
    'no filter': {},
    'status, most': { status: ProductStatus.ACTIVE },
    'status, few': { status: ProductStatus.DRAFT },
  },
  'advance requests': {
    'no filter': {},
    'status, most': { status: AdvanceRequestStatus.SETTLED },
    'status, few': { status: AdvanceRequestStatus.PENDING_REVIEW },
    'status, none': { status: AdvanceRequestStatus.APPROVED },
    'from a day in the middle': { toDate: middle },
    'day and status': { toDate: middle, status: AdvanceRequestStatus.REFUSED },
  },
  disputes: {
    'no filter': {},
    open: { status: DisputeStatus.OPEN },
    closed: { status: DisputeStatus.CLOSED },
    'outcome, most': { outcome: DisputeOutcome.WON },
    'outcome, none': { outcome: DisputeOutcome.REVERSED },
    'from a day in the middle': { toDate: middle },
    'by due date': { order: DisputeOrder.DUE_DATE },
  },
  'API keys': {
    'no filter': {},
    'state, most': { state: ApiKeyState.EXPIRED },
    'state, one in ten': { state: ApiKeyState.REVOKED },
    'state, few': { state: ApiKeyState.ACTIVE },
  },
  'audit trail': {
    'no filter': {},
    'of people': { peopleOnly: true },
    'account, one in ten': { accountId: uuidOf('account1') },
    'account, few': { accountId: uuidOf('account few') },
    'account, none': { accountId: uuidOf('account none') },
  },
} as const;

/** How much longer other lists take, with each filter, for a merchant with a thousand times as many rows. */
export const benchLists = () =>
  compareLists((transport) => {
    const products = createClient(ProductService, transport);
    const advances = createClient(AdvanceService, transport);
    const refunds = createClient(RefundCaseService, transport);
    const apiKeys = createClient(ApiKeyService, transport);
    const accounts = createClient(AccountService, transport);
    return {
      products: {
        rows: SEEDED.products,
        read: async (request) => (await products.listProducts(request)).products,
        filters: FILTERS.products,
      },
      'advance requests': {
        rows: SEEDED['advance requests'],
        read: async (request) => (await advances.listAdvanceRequests(request)).advanceRequests,
        filters: FILTERS['advance requests'],
      },
      disputes: {
        rows: SEEDED.disputes,
        read: async (request) => (await refunds.listDisputes(request)).disputes,
        filters: FILTERS.disputes,
      },
      'API keys': {
        rows: SEEDED['API keys'],
        read: async (request) => (await apiKeys.listApiKeys(request)).apiKeys,
        filters: FILTERS['API keys'],
      },
      'audit trail': {
        rows: SEEDED['audit trail'],
        read: async (request) => (await accounts.listAuditEntries(request)).entries,
        filters: FILTERS['audit trail'],
      },
    };
  });
