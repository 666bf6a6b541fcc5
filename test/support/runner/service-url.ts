import { inject, type ProvidedContext } from 'vitest'

/** Returns the address of a service of this run. Unit tests have none. */
export function serviceUrl(name: keyof ProvidedContext & ('databaseUrl' | 'redisUrl')): string {
  const url = inject(name) as string | undefined
  if (url) return url
  throw new Error(
    'Unit tests run without PostgreSQL and Redis. Move a test that needs them to a folder of test/, such as test/integration.',
  )
}
