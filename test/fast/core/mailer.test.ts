import { describe, expect, test } from 'vitest'
import { retryDelayMs } from '../../../src/core/mail/mail-delivery.ts'
import { createMailer } from '../../../src/core/mail/mailer.ts'
import { startMailServer } from '../../support/network/smtp.ts'

describe('the mailer', () => {
  const mailOf = (n: number) => ({
    to: 'support@wheelhouse.test',
    subject: 'x',
    text: 'x',
    messageId: `<${n}@wheelhouse.test>`,
  })
  const from = { name: '', address: 'hub@wheelhouse.test' }

  test('aborts if the server does not greet or answer within the limits', async () => {
    await using mail = await startMailServer()
    const send = (n: number, limits: { connectMs: number; answerMs: number }) =>
      createMailer({ url: mail.url, from, limits: { handOverMs: 20_000, stopMs: 100, ...limits } }).send(
        mailOf(n),
      )
    mail.is('never greets')
    await expect(send(1, { connectMs: 100, answerMs: 20_000 })).rejects.toMatchObject({
      kind: 'away',
      handedOver: false,
    })
    mail.is('waits')
    await expect(send(2, { connectMs: 20_000, answerMs: 100 })).rejects.toMatchObject({
      kind: 'away',
      handedOver: true,
    })
  })

  test('distinguishes a rejection, a deferral and a missing answer', async () => {
    await using mail = await startMailServer()
    const mailer = createMailer({ url: mail.url, from })
    mail.is({ refuses: 'message', code: 554 })
    await expect(mailer.send(mailOf(1))).rejects.toMatchObject({ kind: 'refused', handedOver: false })
    mail.is({ refuses: 'recipient', code: 450 })
    await expect(mailer.send(mailOf(2))).rejects.toMatchObject({ kind: 'deferred', handedOver: false })
    mail.is('dies within')
    await expect(mailer.send(mailOf(3))).rejects.toMatchObject({ kind: 'away' })
    await mail.stop()
    await expect(mailer.send(mailOf(4))).rejects.toMatchObject({ kind: 'away', handedOver: false })
  })

  test('does not reveal the password of the mail server', async () => {
    await using mail = await startMailServer()
    await mail.stop()
    const url = mail.url.replace('smtp://', 'smtp://user:hunter2@')
    const error = await createMailer({ url, from })
      .send(mailOf(1))
      .catch((cause: Error) => cause)
    expect(String(error)).not.toContain('hunter2')
  })
})

test('retry delays grow from half a minute to an hour', () => {
  const delays = Array.from({ length: 60 }, (_, n) => retryDelayMs(n + 1, 'away', () => 0))
  expect(delays.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map((s) => s * 1_000))
  expect(delays.at(-1)).toBe(3_600_000)
  expect(retryDelayMs(1, 'deferred', () => 0.999)).toBeLessThanOrEqual(37_500)
  expect(retryDelayMs(1, 'deferred', () => 0.999)).toBeGreaterThan(37_000)
  expect(retryDelayMs(40, 'away', () => 0.999)).toBe(3_600_000)
  expect(retryDelayMs(1, 'refused', () => 0)).toBe(3_600_000)
})
