import { inject, type ProvidedContext } from 'vitest'

/** Returns the address of a service of this run. Each worker has its own Redis. Unit tests have no services. */
export function serviceUrl(name: 'databaseUrl' | 'redisUrl'): string {
  const url = name === 'databaseUrl' ? provided('databaseUrl') : redisOfThisWorker()
  if (url) return url
  throw new Error(
    'Unit tests run without PostgreSQL and Redis. Move a test that needs them to a folder of test/, such as test/fast.',
  )
}

/** Returns undefined in a project without services, unlike its type. */
const provided = <Name extends keyof ProvidedContext>(name: Name): ProvidedContext[Name] | undefined =>
  inject(name)

function redisOfThisWorker(): string | undefined {
  const urls = provided('redisUrls')
  // Vitest numbers the workers from 1.
  return urls?.[(Number(process.env.VITEST_POOL_ID) - 1) % urls.length]
}
