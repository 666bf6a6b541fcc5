import { expect, test } from 'vitest'
import type { Metrics } from './metrics.ts'
import { createMetricsPage } from './metrics-http.ts'

const metrics = {
  registry: { contentType: 'text/plain; version=0.0.4', metrics: async () => 'up 1' },
} as unknown as Metrics

/** Returns the status of a request for the page. */
async function statusOf(
  options: { token?: string; production?: boolean },
  authorization?: string,
  method = 'GET',
): Promise<number> {
  const page = createMetricsPage({ metrics, token: options.token, production: options.production ?? false })
  return (await page(method, authorization)).status
}

test('without a token the page is open, except in production', async () => {
  expect(await statusOf({})).toBe(200)
  expect(await statusOf({}, undefined, 'HEAD')).toBe(200)
  expect(await statusOf({}, undefined, 'POST')).toBe(405)
  expect(await statusOf({ production: true })).toBe(404)
})

test.each([true, false])('with a token the scraper must send it (production: %s)', async (production) => {
  const options = { token: 'a token for metrics', production }
  expect(await statusOf(options, 'Bearer a token for metrics')).toBe(200)
  for (const wrong of [
    undefined,
    '',
    'Bearer',
    'Bearer another token',
    'Basic a token for metrics',
    'a token for metrics',
  ])
    expect(await statusOf(options, wrong), wrong).toBe(401)
})
