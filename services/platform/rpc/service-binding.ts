import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';

/** A service with its implementation, type-checked against each other once. */
export interface ServiceBinding {
  readonly service: DescService;
  readonly implementation: object;
  /** Adds the service to the port's router. */
  register(router: ConnectRouter): void;
}

export function bindService<S extends DescService>(
  service: S,
  implementation: ServiceImpl<S>,
): ServiceBinding {
  return {
    service,
    implementation,
    register: (router) => router.service(service, implementation),
  };
}
