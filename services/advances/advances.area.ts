import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { AdvanceRequestEntity, QuoteEntity, QuoteInstallmentEntity, RateEntity } from './advance.entity.ts';
import { advanceService } from './advances.service.ts';

export const advances: Area = {
  name: 'advances',
  entities: [RateEntity, QuoteEntity, QuoteInstallmentEntity, AdvanceRequestEntity],
  grants: ['funds:read', 'saga', 'backdate'],
  bind: (dependencies) => [bindService(AdvanceService, advanceService(dependencies))],
};
