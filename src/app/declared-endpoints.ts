import type { Endpoint } from '../core/http/endpoint.ts'
import { apiEndpoints } from './api.ts'
import { loadConfig } from './config.ts'
import type { Platform } from './container.ts'

/** Where the stored copy of the description says that the API is: the default of an installation. */
export const STORED_BASE_URL = 'http://localhost:3000'

/** Every endpoint as it is declared, without a running platform behind: for reading, not for calling. */
export function declaredEndpoints(): Endpoint[] {
  const settings = { config: loadConfig({}), baseUrl: STORED_BASE_URL, now: () => new Date() }
  const platform = new Proxy(settings, { get: (known, name) => Reflect.get(known, name) ?? stub() })
  // Declaring only hands services on to `run`, which nobody calls here, so stand-ins will do.
  return apiEndpoints(platform as unknown as Platform, () => '')
}

/** Something that has every property and may be called, and does nothing. */
function stub(): object {
  return new Proxy(() => {}, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : stub()),
    apply: () => stub(),
  })
}
