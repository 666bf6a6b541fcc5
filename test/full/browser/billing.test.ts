import { expect, test } from 'vitest'
import { expectAccessibleLayout, heading, openConsole } from '../../support/browser/console.ts'
import { createInvoiceFixture } from '../../support/stripe/invoice-fixture.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'

test('a month of sessions becomes an invoice with lines, is paid at the provider and appears in the statistics', async () => {
  await using fixture = await createInvoiceFixture()
  await using console = await openConsole(fixture.world.baseUrl)
  const { owner, operator, users } = fixture
  await owner.patch('/api/client/profile', { contact_email: 'payer@test.local' })
  await fixture.drive(27)
  const second = await start(operator, users.robotId)
  fixture.later(90_000)
  await performAction(operator, second, 'pause')
  fixture.later(130_000)
  await performAction(operator, second, 'end')
  await fixture.closeMonth()

  const { page, context } = await console.enter(owner, '/dashboard/invoices')
  const row = page.getByRole('row', { name: /January 2026/ })
  await row.getByText('Unpaid').waitFor()
  await page.getByText('sent by e-mail and due within 14 days').waitFor()
  await fixture.run()
  await page.reload()
  const pay = row.getByRole('link', { name: 'View and pay' })
  const invoice = fixture.stripeInvoice()
  expect(await pay.getAttribute('href')).toBe(invoice.hosted_invoice_url)
  expect(await pay.getAttribute('target')).toBe('_blank')
  expect(await pay.getAttribute('rel')).toContain('noopener')

  await row.getByRole('link', { name: 'January 2026', exact: true }).click()
  await heading(page, 'Invoice for January 2026')
  const rows = page.getByRole('table', { name: 'Invoice lines' }).getByRole('row')
  await rows.nth(3).waitFor()
  const cells = async (index: number) => (await rows.nth(index).getByRole('cell').allTextContents()).slice(1)
  const [robot, driver] = [expect.stringMatching(/^Robot/), operator.name]
  expect(await cells(1)).toEqual([robot, driver, '27', '', '', '€0.50', '€13.50'])
  expect(await cells(2)).toEqual([robot, driver, '2', '2 min 10 s', '', '€0.50', '€1.00'])
  expect(await rows.nth(3).textContent()).toMatch(/^2 sessions29.*2 min 10 s.*€14\.50$/)
  await expectAccessibleLayout(page, 'the invoice')

  // The status changes without a reload after the webhook of the provider.
  fixture.invoices.pay(invoice.id)
  expect(await fixture.sendEvent('invoice.paid', invoice.id)).toBe(200)
  await page.getByRole('main').getByText('Paid', { exact: true }).waitFor()
  await page.getByText(/^Paid on /).waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('banner').isVisible()).toBe(false)
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  expect(await rows.nth(3).isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })

  await page.getByRole('link', { name: 'Statistics' }).click()
  const spending = page.getByRole('table', { name: 'Spending by month' })
  await spending.getByRole('row', { name: /Jan 2026\s*€14\.50/ }).waitFor()
  expect(await spending.getByRole('row').count()).toBe(12)
  await page
    .getByRole('table', { name: 'Drive time by month' })
    .getByRole('row', { name: /Jan 2026\s*0:29 h/ })
    .waitFor()
  await page
    .getByRole('table', { name: 'Sessions' })
    .getByRole('row', { name: /Completed\s*2/ })
    .waitFor()
  await page
    .getByRole('table', { name: 'Robots now' })
    .getByRole('row', { name: /Ready\s*1/ })
    .waitFor()
  await page.locator('.recharts-bar-rectangle path').first().waitFor()

  // The page of the provider opens in the same tab.
  let opened = ''
  await context.route('https://billing.stripe.test/**', (route) => {
    opened = route.request().url()
    return route.fulfill({ contentType: 'text/html', body: '<h1>Your payment methods</h1>' })
  })
  await page.getByRole('link', { name: 'Invoices' }).click()
  await page.getByRole('button', { name: 'Add payment method' }).click()
  await heading(page, 'Your payment methods')
  expect(opened).toContain('/p/session/')
  const { customerId } = (await owner.post('/api/payments/customer')).body
  fixture.stripe.books.saveMethod(customerId)
  await fixture.sendEvent('customer.updated', customerId)
  await page.goto(`${fixture.world.baseUrl}/dashboard/invoices`)
  await page.getByText('A payment method is saved').waitFor()
  await page.getByRole('button', { name: 'Change payment method' }).waitFor()
})

test('a long invoice loads page by page and prints only when complete', async () => {
  await using fixture = await createInvoiceFixture()
  await using console = await openConsole(fixture.world.baseUrl)
  await fixture.owner.patch('/api/client/profile', {
    contact_email: 'payer@test.local',
    company_name: 'Lovelace',
  })
  for (let count = 0; count < 101; count++) await fixture.drive(1)
  await fixture.closeMonth()
  const [{ id }] = await fixture.list()
  const { page } = await console.enter(fixture.owner, `/dashboard/invoices/${id}`)
  await page.getByText('For Lovelace').waitFor()
  const lines = page.getByRole('table').locator('tbody tr')
  await waitFor(async () => expect(await lines.count()).toBe(100))
  const print = page.getByRole('button', { name: 'Print' })
  expect(await print.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'More lines (100 of 101)' }).click()
  await waitFor(async () => expect(await lines.count()).toBe(101))
  expect(await print.isDisabled()).toBe(false)
  expect(await page.getByRole('table').locator('tfoot').textContent()).toMatch(/^101 sessions101€50\.50$/)
})
