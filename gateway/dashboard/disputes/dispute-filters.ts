import { DisputeOrder, DisputeStatus } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { filterParameter } from '../shell/query-form.ts';

/** AWAITING: those awaiting the merchant's response, by due date. */
export const STATUSES = ['AWAITING', 'OPEN', 'CLOSED'] as const;

/** The filters of the list and of the file. */
export interface DisputeFilters {
  /** Undefined for every status. */
  readonly status: (typeof STATUSES)[number] | undefined;
  readonly payment: string;
}

/** The query parameters of the filters. */
export const filterParameters = { status: filterParameter, payment: filterParameter };

/** The filters of a query; ignores unknown values of a drop-down. */
export const filtersOf = ({
  status,
  payment = '',
}: {
  status?: string;
  payment?: string;
}): DisputeFilters => ({
  status: STATUSES.find((name) => name === status),
  payment: payment.trim(),
});

/** The fields of a request that limit it to the filters. */
export const filterFields = ({ status, payment }: DisputeFilters) => ({
  ...(status === 'AWAITING' ? { order: DisputeOrder.DUE_DATE } : status && { status: DisputeStatus[status] }),
  ...(payment && { paymentIntentId: payment }),
});
