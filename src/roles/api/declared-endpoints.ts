import { loadConfig } from '../../app/config.ts'
import type { Platform } from '../../app/container.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { apiEndpoints } from './api.ts'

/** The base URL of the stored API description: the default of an installation. */
export const STORED_BASE_URL = 'http://localhost:3000'

/** Returns the declarations of all endpoints without a running platform. They can be read, but not called. */
export function declaredEndpoints(): Endpoint[] {
  const settings = { config: loadConfig({}), baseUrl: STORED_BASE_URL, now: () => new Date() }
  const platform = new Proxy(settings, { get: (known, name) => Reflect.get(known, name) ?? stub() })
  // A declaration only passes services to `run`, which is never called here, so stubs are sufficient.
  return apiEndpoints(platform as unknown as Platform, () => '')
}

/** Returns a callable object that has every property and no behaviour. */
function stub(): object {
  return new Proxy(() => {}, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : stub()),
    apply: () => stub(),
  })
}
