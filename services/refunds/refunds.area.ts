import { RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { EvidenceEntity } from './evidence/evidence.entity.ts';
import { DisputeEntity, PaymentEntity, RefundCaseEntity } from './refund-case.entity.ts';
import { refundCaseService } from './refunds.service.ts';

export const refunds: Area = {
  name: 'refunds',
  entities: [PaymentEntity, RefundCaseEntity, DisputeEntity, EvidenceEntity],
  grants: ['catalog:read', 'funds:read'],
  bind: (dependencies) => [bindService(RefundCaseService, refundCaseService(dependencies))],
};
