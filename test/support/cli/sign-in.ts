import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createBrowser } from '../network/cookie-client.ts'
import type { World } from '../world/world.ts'
import { type CliUser, createCliUser, startCli } from './terminal.ts'

/** Where somebody's sign-ins are kept. */
export const pathOf = (user: CliUser) => join(user.configHome, 'wheelhouse', 'credentials.json')
export const stored = async (user: CliUser) => JSON.parse(await readFile(pathOf(user), 'utf8'))
export const store = (user: CliUser, file: unknown) => writeFile(pathOf(user), JSON.stringify(file))

/** Changes the token that is kept of a sign-in in the browser. */
export async function corrupt(user: CliUser, change: Record<string, string>): Promise<void> {
  const file = await stored(user)
  Object.assign(file.profiles.default.credential, change)
  await store(user, file)
}

/** The value of a hidden field on a page. */
const field = (page: { text: string }, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? ''

/** A sign-in that waits for its person, and the page behind the address that it shows. */
export async function startSignIn(world: World, user: CliUser) {
  const program = startCli(user, ['login', world.baseUrl, '--json'])
  const sent = await program.expectText(/code: \S+/, 'stderr')
  const [, address = '', code = ''] = /(http\S+)[\s\S]*code: (\S+)/.exec(sent) ?? []
  const browser = createBrowser(world.baseUrl)
  // What the page's script would do: submit what the address brings along.
  const arrival = await browser.go(address)
  const device = { ...arrival, url: `${world.baseUrl}/idp/device` }
  const confirmation = await browser.submit(device, { xsrf: field(arrival, 'xsrf'), user_code: code })
  const answer = (choice: Record<string, string>) =>
    browser.submit(device, { xsrf: field(confirmation, 'xsrf'), user_code: code, ...choice })
  return { program, browser, confirmation, code, answer }
}

/** Somebody signed in through the provider's pages. */
export async function signedInBrowser(world: World, email: string) {
  const user = await createCliUser()
  const { program, browser, answer } = await startSignIn(world, user)
  const done = await browser.submit(await answer({ confirm: 'yes' }), { email })
  expect(done.text).toContain('is signed in')
  const ended = await program.ended
  expect(ended.code, ended.stderr).toBe(0)
  return { user, ended }
}
