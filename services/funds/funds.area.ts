import { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import {
  AccountEntity,
  BlockEntity,
  DebtPaymentEntity,
  DeductionEntity,
  EndedExecutionEntity,
  InstallmentEntity,
  PendingDebitEntity,
  PostingEntity,
  RefundDebitEntity,
  ReleaseEntity,
  ReservationEntity,
  SaleEntity,
} from './funds.entity.ts';
import { fundsService } from './funds.service.ts';
import { FailingAccountEntity } from './verification/failing-account.entity.ts';

export const funds: Area = {
  name: 'funds',
  entities: [
    AccountEntity,
    SaleEntity,
    InstallmentEntity,
    BlockEntity,
    ReleaseEntity,
    DebtPaymentEntity,
    DeductionEntity,
    RefundDebitEntity,
    PendingDebitEntity,
    EndedExecutionEntity,
    ReservationEntity,
    PostingEntity,
    FailingAccountEntity,
  ],
  grants: [],
  bind: (dependencies) => [bindService(FundsService, fundsService(dependencies))],
};
