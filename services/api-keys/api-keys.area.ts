import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { ApiKeyEntity } from './api-key.entity.ts';
import { apiKeyService } from './api-keys.service.ts';

export const apiKeys: Area = {
  name: 'api-keys',
  entities: [ApiKeyEntity],
  grants: [],
  bind: (dependencies) => [bindService(ApiKeyService, apiKeyService(dependencies))],
};
