import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { type EnumName, enumName } from '../../../../services/platform/enum-name.ts';
import type { View } from '../../shell/view.ts';
import type { advanceStepTexts } from './advance-steps.texts.ts';

type StateName = EnumName<typeof AdvanceRequestStatus>;
export type StepName = keyof (typeof advanceStepTexts)['en']['steps'];

interface Act {
  readonly view: View;
  /** The fields of every write to a request. */
  readonly write: { readonly idempotencyKey: string; readonly advanceRequestId: string };
  readonly request: AdvanceRequest;
  readonly reason: string;
}

/** A step of a request, and the statuses in which it is possible. */
export interface AdvanceStep {
  readonly name: StepName;
  readonly from: readonly StateName[];
  readonly hasReason?: boolean;
  act(act: Act): Promise<unknown>;
}

export const stateOf = ({ status }: AdvanceRequest) => enumName(AdvanceRequestStatus, status);

/** Whether a request was made in the past; its later steps are dated there too, before its installments are due. */
export function isBackdated({ requestedAt }: AdvanceRequest): boolean {
  return requestedAt !== undefined && Date.now() - timestampMs(requestedAt) > DAY_MS;
}

function pastOccurrence(request: AdvanceRequest): { readonly occurredAt?: Timestamp } {
  const at = request.reviewedAt ?? request.requestedAt;
  return isBackdated(request) && at ? { occurredAt: at } : {};
}

export const ADVANCE_STEPS: readonly AdvanceStep[] = [
  {
    name: 'approve',
    from: ['PENDING_REVIEW'],
    act: ({ view, write, request }) =>
      view.clients.advances.approveAdvance({ ...write, ...pastOccurrence(request) }),
  },
  {
    name: 'release',
    from: ['APPROVED'],
    act: ({ view, write, request }) =>
      view.clients.advances.releaseAdvance({ ...write, ...pastOccurrence(request) }),
  },
  {
    name: 'refuse',
    from: ['PENDING_REVIEW', 'APPROVED'],
    hasReason: true,
    act: ({ view, write, request, reason }) =>
      view.clients.advances.refuseAdvance({ ...write, ...pastOccurrence(request), reason }),
  },
  {
    name: 'settle',
    from: ['RELEASED'],
    act: ({ view, write }) => view.clients.advances.settleAdvance(write),
  },
];
