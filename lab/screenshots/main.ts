import { answerOf } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { type ConsoleBrowser, openConsole } from '../../test/support/browser/console.ts'
import { shoot } from './capture.ts'
import { driveByKeys, driveByProgram, passes } from './drivers.ts'
import { createScreenshotFixtures, type ScreenshotFixtures, sendMessage } from './fixtures.ts'
import { captureReplay, markEpisode } from './replay.ts'

// `npm run screenshots`: takes the pictures of docs/images, from a platform with the demo's accounts and robots.

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000
/** How often the cockpit is looked at for a moment without a warning: a busy machine delays pictures. */
const ATTEMPTS = 10

/** Waits until the picture that fills the page is live. */
const pictureLives = (page: Page) =>
  page.locator('[data-testid=freshness][data-state=LIVE]').first().waitFor()
/** Waits for the search, which is loaded after the first view. */
const navigationLives = (page: Page) => page.getByRole('button', { name: /Search/ }).waitFor()
/** Waits until all tiles of robots have their pictures, and the driven one is live. */
const tilesLive = async (page: Page) => {
  await page
    .getByText(/^Stopped/)
    .first()
    .waitFor()
  await pictureLives(page)
  await page.locator('article [data-waiting]').first().waitFor({ state: 'detached' })
}
const cockpitLives = async (page: Page) => {
  await pictureLives(page)
  await page.getByTestId('battery').getByText('%').waitFor()
}

async function open(browser: ConsoleBrowser, email: string, path: string): Promise<Page> {
  const { page, context } = await browser.signIn(email, `/dashboard${path}`)
  context.setDefaultTimeout(TIMEOUT_MS)
  return page
}

/** Takes pictures of the session as its owner sees it, driven by a program; the owner's robots; the admin's overview. */
async function captureObservers(
  { baseUrl, ...set }: ScreenshotFixtures,
  browser: ConsoleBrowser,
): Promise<void> {
  const { ronja, bolt } = set.sessions
  const driver = await driveByProgram(baseUrl, set.operator, ronja)
  const other = await driveByProgram(baseUrl, set.second, bolt)
  try {
    await sendMessage(set.operator, ronja, 'Hello, I drive Ronja now. Up the aisle, as planned?')
    await sendMessage(set.owner, ronja, 'Yes please. Mind the pallet on the right.')
    await passes(other.trip, 2)
    const stop = { action: 'emergency_stop', reason: 'A person is in its way' } as const
    await answerOf(set.owner.rest.PATCH('/api/sessions/{id}', { params: { path: { id: bolt } }, body: stop }))
    const owner = await open(browser, 'owner@demo.local', `/sessions/${ronja}`)
    await pictureLives(owner)
    await markEpisode(set.operator, ronja, { action: 'start', task: 'Drive up the aisle' })
    await passes(driver.trip, 6)
    await markEpisode(set.operator, ronja, { action: 'success' })
    const session = { ready: (page: Page) => pictureLives(page).then(() => passes(driver.trip, 0)) }
    await shoot(owner, { ...session, name: 'session', size: 'desktop', scheme: 'light' })
    await shoot(owner, { ...session, name: 'session-dark', size: 'desktop', scheme: 'dark' })
    await shoot(owner, { ...session, name: 'session-phone', size: 'phone', scheme: 'light' })
    await owner.goto(`${baseUrl}/dashboard/robots`)
    const robots = {
      ready: async (page: Page) => {
        await navigationLives(page)
        await page.getByText('Sorting arm').first().waitFor()
      },
    }
    await shoot(owner, { ...robots, name: 'robots', size: 'desktop', scheme: 'light' })
    await owner.goto(`${baseUrl}/dashboard/live`)
    await shoot(owner, { ready: tilesLive, name: 'wall', size: 'desktop', scheme: 'dark' })
    await owner.goto(`${baseUrl}/dashboard`)
    const home = {
      ready: async (page: Page) => {
        await navigationLives(page)
        await tilesLive(page)
      },
    }
    await shoot(owner, { ...home, name: 'home', size: 'desktop', scheme: 'light' })

    const admin = await open(browser, 'admin@demo.local', '/admin')
    const overview = { ready: (page: Page) => page.getByText(/Stopped by Olive Owner/).waitFor() }
    await shoot(admin, { ...overview, name: 'admin-overview', size: 'desktop', scheme: 'light' })
    await shoot(admin, { ...overview, name: 'admin-overview-dark', size: 'desktop', scheme: 'dark' })
    // Their pictures would cost that of the cockpit its quality.
    await Promise.all([owner.close(), admin.close()])
  } finally {
    await driver.close()
    await other.close()
  }
}

/** Takes pictures of the cockpit, driven with its keys. */
async function takeCockpit({ baseUrl, ...set }: ScreenshotFixtures, browser: ConsoleBrowser): Promise<void> {
  const { ronja } = set.sessions
  const page = await open(browser, 'operator@demo.local', `/drive/${ronja}`)
  await cockpitLives(page)
  const driver = await driveByKeys(baseUrl, set.owner, ronja, page)
  try {
    const isCalm = async () =>
      (await page.locator('[data-testid=freshness][data-state=LIVE]').count()) > 0 &&
      (await page.locator('[data-testid=speed] > [role=status]:empty').count()) > 0
    const ready = async () => {
      await cockpitLives(page)
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        await passes(driver.trip, 0)
        await driver.rest()
        await page
          .getByTestId('speed')
          .getByText(/^0\.[3-9]/)
          .waitFor()
        if (await isCalm()) return
      }
    }
    await passes(driver.trip, 1)
    const cockpit = { ready }
    await shoot(page, { ...cockpit, name: 'cockpit', size: 'desktop', scheme: 'dark' })
    await shoot(page, { ...cockpit, name: 'cockpit-phone', size: 'phone', scheme: 'dark' })
    // Without a network: the page must say that what it shows is old.
    await page.context().setOffline(true)
    const blind = {
      ready: (page: Page) => page.locator('[data-testid=freshness][data-state=BLIND]').waitFor(),
    }
    await shoot(page, { ...blind, name: 'cockpit-blind', size: 'desktop', scheme: 'dark' })
    await page.context().setOffline(false)
  } finally {
    await driver.close()
    await page.close()
  }
}

const set = await createScreenshotFixtures()
try {
  const browser = await openConsole(set.baseUrl)
  try {
    await captureObservers(set, browser)
    await takeCockpit(set, browser)
    await captureReplay(set, browser)
  } finally {
    await browser[Symbol.asyncDispose]()
    await browser.browser.close()
  }
} finally {
  await set.close()
}
// The video encoders of the robots would keep the process.
process.exit()
