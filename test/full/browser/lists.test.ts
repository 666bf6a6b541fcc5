import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ConsoleBrowser, expectAccessibleLayout, openConsole } from '../../support/browser/console.ts'
import { connectTo } from '../../support/database/sql.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const FLEET = 350

let world: World
let browser: ConsoleBrowser
let owner: TestUser

beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
  owner = await newOwner()
  await addRobots(owner, FLEET)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** Creates an owner with a complete account. */
async function newOwner() {
  const made = await world.client()
  await made.patch('/api/client/profile', { contact_email: `${made.name}@test.local` })
  return made
}

/** Inserts robots "Robot 001", "Robot 002", …, newest last. Every seventh one is a rover. */
async function addRobots({ id }: TestUser, count: number) {
  await using database = await connectTo(world.database.url)
  await database.query(
    `with made as (
       insert into robots (id, owner_id, name, robot_type, hardware_id, created_at)
       select gen_random_uuid(), $1::uuid, 'Robot ' || lpad(n::text, 3, '0'), case when n % 7 = 0 then 'rover' else 'arm' end,
         $1 || '-' || n, now() - ($2 - n) * interval '1 minute'
       from generate_series(1, $2::int) n returning id)
     insert into robot_presence (robot_id) select id from made`,
    [id, count],
  )
}

const rows = (page: Page) => page.getByTestId('robot-row')
const rowOf = (page: Page, name: string) => rows(page).filter({ hasText: name })
const chip = (page: Page, filter: string, name: RegExp) =>
  page.getByRole('group', { name: filter }).getByRole('button', { name })
const paramsOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const firstRow = (page: Page) => page.locator('[data-index="0"]').innerText()
const focusedText = (page: Page) => page.evaluate('document.activeElement.textContent')
const bottom = 'window.scrollTo(0, document.documentElement.scrollHeight)'

test('a fleet is scrolled to its end with few rows in the page, and 20 of them on a screen', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots', { viewport: { width: 1440, height: 900 } })
  await rowOf(page, 'Robot 350').waitFor()
  const boxes = await Promise.all((await rows(page).all()).map((row) => row.boundingBox()))
  const inView = boxes.filter((box) => box && box.y >= 0 && box.y + box.height <= 900)
  expect(inView.length).toBeGreaterThanOrEqual(20)
  expect(new Set(boxes.map((box) => box?.height)).size).toBe(1)
  await expectAccessibleLayout(page, 'a fleet')
  await waitFor(async () => {
    await page.evaluate(bottom)
    expect(await rowOf(page, 'Robot 001').count()).toBe(1)
  })
  await page.getByText('350 in total').waitFor()
  expect(await rows(page).count()).toBeLessThan(70)
  // A refresh requests the pages of the visible rows, which are not the first one here.
  const refreshes: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/client/robots') refreshes.push(search)
  })
  await waitFor(() => expect(refreshes.length).toBeGreaterThanOrEqual(2))
  for (const search of refreshes) expect(search).toContain('cursor=')
  expect(await page.getByRole('table', { name: 'Robots' }).getAttribute('aria-rowcount')).toBe('351')
})

test('a link that is followed right after typing opens its page', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots')
  await rowOf(page, 'Robot 350').waitFor()
  const typed = Promise.withResolvers<void>()
  let requests = 0
  await page.route(/\/assets\/robot\.page-[^/]+\.js$/, async (route) => {
    requests++
    await typed.promise
    await route.continue()
  })
  await page.getByLabel('Search').fill('robot 3')
  await page.getByRole('link', { name: 'Robot 350' }).click()
  // Begins after the delay of the field and takes as long, so it ends later.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 250))')
  typed.resolve()
  await page.getByRole('heading', { name: 'Robot 350' }).waitFor()
  expect(requests).toBe(1)
  expect(paramsOf(page)).toEqual({})
})

test('going back shows the same search, order and place', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots', { viewport: { width: 1440, height: 900 } })
  await chip(page, 'Type', /^arm/).click()
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
  await waitFor(async () => expect(await firstRow(page)).toContain('Robot 001'))
  await page.getByLabel('Search').fill('robot')
  await waitFor(() => expect(paramsOf(page)).toEqual({ search: 'robot', sort: 'name', type: 'arm' }))
  await waitFor(async () => {
    await page.evaluate(bottom)
    expect(await rowOf(page, 'Robot 349').count()).toBe(1)
  })
  await page.evaluate('window.scrollTo(0, 4000)')
  await waitFor(async () => expect(await page.evaluate('window.scrollY')).toBe(4_000))
  const before = await rowOf(page, 'Robot 1').allInnerTexts()
  await page.getByRole('link', { name: 'Robot 170' }).click()
  await page.getByRole('heading', { name: 'Robot 170', level: 1 }).waitFor()
  await page.goBack()
  await waitFor(async () => expect(await page.evaluate('window.scrollY')).toBe(4_000))
  await waitFor(async () =>
    expect((await rowOf(page, 'Robot 1').allInnerTexts()).sort()).toEqual(before.sort()),
  )
  expect(paramsOf(page)).toEqual({ search: 'robot', sort: 'name', type: 'arm' })
  expect(await page.getByLabel('Search').inputValue()).toBe('robot')
  expect(await chip(page, 'Type', /^arm/).getAttribute('aria-pressed')).toBe('true')
  expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending')
})

test('an address opens its search, and invalid parameters count as missing', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots?search=001&sort=broken&status=NO&type=arm')
  await page.getByText('1 in total').waitFor()
  await rowOf(page, 'Robot 001').waitFor()
  expect(await page.getByLabel('Search').inputValue()).toBe('001')
  await chip(page, 'Type', /^arm/).click()
  await page.getByLabel('Search').fill('no such robot')
  await page.getByText('No matching robots').waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await rowOf(page, 'Robot 350').waitFor()
})

test('filters have counts, and follow each other', async () => {
  const user = await newOwner()
  await addRobots(user, 14)
  const online = await world.robot(user, { name: 'Online rover', robot_type: 'rover' })
  const link = (await world.connect(online)).beat()
  const { page } = await browser.enter(user, '/dashboard/robots')
  await chip(page, 'Status', /^Ready\s*1$/).waitFor()
  await chip(page, 'Status', /^Offline\s*14$/).waitFor()
  await chip(page, 'Type', /^arm\s*12$/).waitFor()
  await chip(page, 'Type', /^rover\s*3$/).click()
  await chip(page, 'Status', /^Offline\s*2$/).click()
  await page.getByText('2 in total').waitFor()
  await chip(page, 'Type', /^rover\s*2$/).waitFor()
  // Live: the robot leaves, and joins those that are offline.
  await link.close()
  await page.getByText('3 in total').waitFor()
  await rowOf(page, 'Online rover').getByText('Offline').waitFor()
  await chip(page, 'Status', /^Offline\s*3$/).waitFor()
})

test('the keyboard searches, moves between rows and opens one', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots?sort=name')
  await rowOf(page, 'Robot 001').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('rover')
  await waitFor(() => expect(paramsOf(page).search).toBe('rover'))
  await page.getByText('50 in total').waitFor()
  await page.keyboard.press('ArrowDown')
  await waitFor(async () => expect(await focusedText(page)).toBe('Robot 007'))
  for (let row = 0; row < 40; row++) await page.keyboard.press('ArrowDown')
  await waitFor(async () => expect(await focusedText(page)).toBe('Robot 287'))
  await page.keyboard.press('ArrowUp')
  await waitFor(async () => expect(await focusedText(page)).toBe('Robot 280'))
  await page.keyboard.press('End')
  await waitFor(async () => expect(await focusedText(page)).toBe('Robot 350'))
  await page.keyboard.press('Home')
  await waitFor(async () => expect(await focusedText(page)).toBe('Robot 007'))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Robot 007', level: 1 }).waitFor()
})

test('views are saved, applied and removed', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots?type=rover&sort=-name')
  await page.getByText('50 in total').waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Name of the view').fill('Rovers')
  await page.getByRole('button', { name: 'Save view' }).click()
  await expectAccessibleLayout(page, 'the views')
  await page.keyboard.press('Escape')
  await page.goto(`${world.baseUrl}/dashboard/robots`)
  await rowOf(page, 'Robot 350').waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('button', { name: 'Rovers', exact: true }).click()
  await waitFor(() => expect(paramsOf(page)).toEqual({ type: 'rover', sort: '-name' }))
  await page.getByText('50 in total').waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('button', { name: 'Remove view Rovers' }).click()
  await page.getByText('Views stay in this browser').waitFor()
})

test('on a phone rows are cards that sort', async () => {
  const { page } = await browser.enter(owner, '/dashboard/robots', { viewport: { width: 390, height: 844 } })
  await rowOf(page, 'Robot 350').waitFor()
  expect(await page.getByRole('columnheader').count()).toBe(0)
  await page.getByLabel('Sort').selectOption('Name ↑')
  await waitFor(async () => expect(await firstRow(page)).toContain('Robot 001'))
  await expectAccessibleLayout(page, 'cards')
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(
    0,
  )
})

test('robots are filtered by tag and charge, and a tag in a row leads to the others that have it', async () => {
  const tagged = await newOwner()
  const [first, second] = [
    await world.robot(tagged, { name: 'First', tags: ['hall 2', 'arm'] }),
    await world.robot(tagged, { name: 'Second', tags: ['hall 2'] }),
  ]
  await world.robot(tagged, { name: 'Third' })
  await using database = await connectTo(world.database.url)
  await database.query('update robot_presence set battery = 0.4 where robot_id = any($1)', [
    [first.id, second.id],
  ])
  await database.query('update robot_presence set battery = 0.1 where robot_id = $1', [second.id])
  const { page } = await browser.enter(tagged, '/dashboard/robots')
  await chip(page, 'Battery', /^Battery below 50 % *2$/).click()
  await rowOf(page, 'Third').waitFor({ state: 'detached' })
  await chip(page, 'Tags', /^arm *1$/).waitFor()
  await chip(page, 'Battery', /^Battery below 20 % *1$/).click()
  await rowOf(page, 'First').waitFor({ state: 'detached' })
  expect(paramsOf(page)).toEqual({ battery: 'below-20' })
  await page.reload()
  await rowOf(page, 'Second').waitFor()
  expect(await rows(page).count()).toBe(1)
  await page.getByRole('link', { name: 'Robots with the tag hall 2' }).click()
  await rowOf(page, 'First').waitFor()
  expect(paramsOf(page)).toEqual({ tag: 'hall 2' })
  await page.goBack()
  await rowOf(page, 'First').waitFor({ state: 'detached' })
  await page.goForward()
  await rowOf(page, 'First').waitFor()
  expect(await rows(page).count()).toBe(2)
  await expectAccessibleLayout(page, 'robots with tags')
  await chip(page, 'Tags', /^hall 2/).click()
  await rowOf(page, 'Third').waitFor()
  expect(paramsOf(page)).toEqual({})
})

test('the robot filter of sessions finds a robot among more than a hundred', async () => {
  const operator = await world.operator()
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, operator_earnings_cents,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), id, $1, $2, 'COMPLETED', created_at, created_at + interval '90 s', created_at, 100, 70,
       name, robot_type, 'Operator', 'Owner'
     from robots where owner_id = $2`,
    [operator.id, owner.id],
  )
  const { page } = await browser.enter(owner, '/dashboard/sessions')
  await page.getByRole('link', { name: 'Robot 350' }).waitFor()
  const field = page.getByRole('combobox', { name: 'Robot' })
  await field.fill('321')
  await page.getByRole('option', { name: 'Robot 321' }).click()
  await page.getByText('1 in total').waitFor()
  await page.getByRole('link', { name: 'Robot 321' }).waitFor()
  await page.reload()
  await waitFor(async () => expect(await field.inputValue()).toBe('Robot 321'))
  await expectAccessibleLayout(page, 'filtered sessions')
  await page.getByRole('link', { name: 'Robot 321' }).click()
  await page.getByRole('heading', { name: /^Session on Robot 321/ }).waitFor()
  await page.goBack()
  await page.getByText('1 in total').waitFor()
})
