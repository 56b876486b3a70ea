import { RefundCaseStatus, RefundInitiator } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { filterParameter } from '../shell/query-form.ts';
import { STATES, type StateName } from './refund-case.components.ts';

export const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;

/** The choices of the list and of the file. */
export interface RefundChoices {
  readonly state: StateName | undefined;
  readonly initiator: (typeof INITIATORS)[number] | undefined;
}

/** The query parameters of the choices. */
export const choiceParameters = { status: filterParameter, initiator: filterParameter };

/** The choices of a query; ignores unknown values. */
export const choicesOf = ({ status, initiator }: { status?: string; initiator?: string }): RefundChoices => ({
  state: STATES.find((name) => name === status),
  initiator: INITIATORS.find((name) => name === initiator),
});

/** The fields of a request that limit it to the choices. */
export const chosenFields = ({ state, initiator }: RefundChoices) => ({
  ...(state && { status: RefundCaseStatus[state] }),
  ...(initiator && { initiator: RefundInitiator[initiator] }),
});
