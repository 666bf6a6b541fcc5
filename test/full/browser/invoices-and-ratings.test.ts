import { expect, test } from 'vitest'
import { expectAccessibleLayout, heading, openConsole } from '../../support/browser/console.ts'
import { createInvoiceFixture } from '../../support/stripe/invoice-fixture.ts'
import { MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'

test('an operator sees pending earnings, unpaid outage time, and the available balance after the owner has paid', async () => {
  await using fixture = await createInvoiceFixture()
  await using console = await openConsole(fixture.world.baseUrl)
  const { operator, users, gateway } = fixture
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  const id = await start(operator, users.robotId)
  fixture.later(10 * MINUTE_MS)
  const lastSignMs = fixture.now().getTime()
  fixture.later(95_000)
  await gateway.lose(users.robotId, lastSignMs)
  await gateway.connect(users.robotId)
  await performAction(operator, id, 'end')

  const { page } = await console.enter(operator, `/dashboard/sessions/${id}`)
  const summary = page.getByRole('table', { name: 'Summary' })
  await summary.getByRole('row', { name: /Robot offline 1:35, neither charged nor paid/ }).waitFor()
  await summary.getByRole('row', { name: /Your earnings €3\.50, pending until/ }).waitFor()
  await page.getByText(/The robot lost its connection \(the last 95\.0 s are not billed\)/).waitFor()
  await expectAccessibleLayout(page, 'the session')

  await page.goto(`${fixture.world.baseUrl}/dashboard/earnings`)
  const figures = page.getByRole('region', { name: 'Figures' })
  await figures.getByText('1:35 with the robot offline is not paid').waitFor()
  await figures.getByText('€0.00').waitFor() // available
  expect(await figures.getByText('€3.50').count()).toBe(3) // this month, total, pending
  await page.getByText('€0.00 available, €3.50 pending').waitFor()
  await expectAccessibleLayout(page, 'the earnings')

  await fixture.closeMonth()
  await fixture.run()
  fixture.invoices.pay(fixture.stripeInvoice().id)
  await fixture.sendEvent('invoice.paid', fixture.stripeInvoice().id)
  await page.reload()
  await page.getByText('€3.50 available', { exact: true }).waitFor()
  await page.goto(`${fixture.world.baseUrl}/dashboard/sessions/${id}`)
  await summary.getByRole('row', { name: 'Your earnings €3.50', exact: true }).waitFor()
})

test('an owner who drove their own robot sees why a rating is not possible', async () => {
  await using fixture = await createInvoiceFixture()
  await using console = await openConsole(fixture.world.baseUrl)
  const { owner, users } = fixture
  await owner.patch('/api/client/profile', { contact_email: 'payer@test.local' })
  await owner.post('/api/auth/profile', { role: 'operator' })
  await owner.post('/api/operator/profile', { headline: 'Own hands', timezone: 'Europe/Berlin' })
  const id = await start(owner, users.robotId)
  fixture.later(MINUTE_MS)
  await performAction(owner, id, 'end')
  const { page } = await console.enter(owner, `/dashboard/sessions/${id}`)
  await page.getByText('You drove your own robot.').waitFor()
  await page.getByRole('row', { name: /Charge €0\.50/ }).waitFor()
  expect(await page.getByRole('form', { name: 'Rate this session' }).count()).toBe(0)
})

test('an issued invoice shows the names at the time of issue', async () => {
  await using fixture = await createInvoiceFixture()
  await using console = await openConsole(fixture.world.baseUrl)
  const { owner, users } = fixture
  await owner.patch('/api/client/profile', {
    company_name: 'First Ltd',
    country: 'DE',
    contact_email: 'payer@test.local',
  })
  await owner.patch(`/api/client/robots/${users.robotId}`, { name: 'First robot' })
  await fixture.drive(3)
  await fixture.closeMonth()
  await owner.patch('/api/client/profile', { company_name: 'Renamed Ltd', country: 'GB' })
  await owner.patch(`/api/client/robots/${users.robotId}`, { name: 'Renamed robot' })
  const [{ id }] = await fixture.list()
  const { page } = await console.enter(owner, `/dashboard/invoices/${id}`)
  await heading(page, 'Invoice for January 2026')
  await page.getByText('For First Ltd, DE').waitFor()
  await page.getByRole('cell', { name: 'First robot' }).waitFor()
  expect(await page.getByRole('main').getByText('Renamed').count()).toBe(0)
})
