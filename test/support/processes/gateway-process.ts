import { serviceUrl } from '../runner/service-url.ts'
import type { World } from '../world/world.ts'
import { startWheelhouse, type Wheelhouse } from './processes.ts'

/**
 * Starts a gateway in a separate process, where it runs in its thread, for a world with `bus: 'redis'`.
 * @param env overrides the environment
 */
export const startGatewayProcess = (world: World, env: Record<string, string> = {}): Wheelhouse =>
  startWheelhouse({
    ROLES: 'gateway',
    DATABASE_URL: world.database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    BASE_URL: world.baseUrl,
    ...env,
  })
