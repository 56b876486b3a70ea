import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { accountService } from './accounts.service.ts';

export const accounts: Area = {
  name: 'accounts',
  entities: [],
  grants: [],
  bind: (dependencies) => [bindService(AccountService, accountService(dependencies))],
};
