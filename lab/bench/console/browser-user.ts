import type { Page } from 'playwright-core'
import { generateApiKey, hashApiKey } from '../../../src/modules/identity/api-keys/api-key-format.ts'
import type { Lab } from '../lab.ts'

/** Signs a new user in through the built-in identity provider, up to the choice of a role. */
export async function signIn(page: Page, baseUrl: string, email: string): Promise<void> {
  await page.goto(`${baseUrl}/dashboard`)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Any other e-mail address').fill(email)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Continue as operator' }).waitFor()
}

/** Creates an API key for a user who has signed in. */
export async function keyFor({ db }: Lab, email: string): Promise<string> {
  const key = generateApiKey()
  await db.query(
    `insert into api_keys (id, user_id, organization_id, name, hash, prefix, last4)
     select gen_random_uuid(), id, id, 'bench', $1, 'svc_live_0000', '0000' from users where email = $2`,
    [hashApiKey(key), email],
  )
  return key
}

export type Answer = Readonly<Record<string, unknown>>

/** Returns a function that calls the API. It throws an Error for every answer that is no success. */
export const requesterOf =
  (apiUrl: string) =>
  async (key: string, method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(new URL(path, apiUrl), {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) {
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    }
    return (await response.json()) as Answer
  }
