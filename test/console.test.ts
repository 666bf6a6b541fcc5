import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleBrowser, openConsole, seriousIssues } from './support/console.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
let console_: ConsoleBrowser

beforeAll(async () => {
  world = await createWorld()
  console_ = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await console_?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('signs in, asks who somebody is and leads to their pages', async () => {
  const { page } = await console_.signIn('nobody@test.local')
  await page.getByRole('button', { name: 'I want to drive' }).click({ timeout: 5000 })
  await page.getByLabel('Headline').fill('Steady hands')
  await page.screenshot({ path: '/tmp/c1.png' })
  expect(await seriousIssues(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: /Welcome/ }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 5000 })
  await page.screenshot({ path: '/tmp/c2.png' })
  expect(await seriousIssues(page)).toEqual([])
  await page.getByRole('link', { name: 'Settings' }).first().click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor({ timeout: 5000 })
  await page.screenshot({ path: '/tmp/c3.png', fullPage: true })
  expect(await seriousIssues(page)).toEqual([])
})
