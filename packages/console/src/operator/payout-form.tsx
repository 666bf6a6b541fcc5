import { Button, Group, Modal, NumberInput, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { money } from '../ui/format.ts'
import { Section } from '../ui/section.tsx'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useIdempotentMutation } from './idempotent-mutation.ts'

type Overview = Schemas['PayoutOverview']

/** Requests a payout of the whole balance or of an amount, after a confirmation. */
export function PayoutForm({ overview }: { overview: Overview }) {
  const { availableCents, minimumCents } = overview
  const [partial, setPartial] = useState(false)
  const [euros, setEuros] = useState<number | string>('')
  const [submitted, setSubmitted] = useState(false)
  const [opened, { open, close }] = useDisclosure(false)
  const request = useRequestPayout(close)
  const amountCents = partial ? Math.round(Number(euros) * 100) : availableCents
  const problem = problemOf(amountCents, overview)
  const belowMinimum = availableCents < minimumCents
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setSubmitted(true)
    request.reset()
    if (!problem) open()
  }
  return (
    <Section title={t('operator.payoutForm.title')}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text>{balanceText(overview)}</Text>
          {overview.nextAvailableAt && (
            <Text size="sm" c="dimmed">
              {textParts('operator.payoutForm.pendingNote', {
                time: <Time at={overview.nextAvailableAt} exact />,
              })}
            </Text>
          )}
          {belowMinimum ? (
            <Text c="dimmed">{t('operator.payoutForm.minimum', { amount: money(minimumCents) })}</Text>
          ) : (
            <>
              <Radio.Group
                label={t('operator.payoutForm.amount')}
                value={partial ? 'part' : 'all'}
                onChange={(value) => setPartial(value === 'part')}
              >
                <Stack gap="xs" mt="xs">
                  <Radio
                    value="all"
                    label={t('operator.payoutForm.all', { amount: money(availableCents) })}
                  />
                  <Radio value="part" label={t('operator.payoutForm.other')} />
                </Stack>
              </Radio.Group>
              {partial && (
                <NumberInput
                  label={t('operator.payoutForm.euros')}
                  description={t('operator.payoutForm.eurosNote', { amount: money(minimumCents) })}
                  hideControls
                  decimalScale={2}
                  allowNegative={false}
                  value={euros}
                  error={submitted && problem}
                  onChange={setEuros}
                />
              )}
              <Group>
                <Button type="submit">{t('operator.payoutForm.request')}</Button>
              </Group>
            </>
          )}
          <Text size="sm" role="status">
            {request.data ? outcomeOf(request.data) : ''}
          </Text>
        </Stack>
      </form>
      <Modal
        opened={opened}
        onClose={close}
        title={t('operator.payoutForm.question', { amount: money(amountCents) })}
      >
        <Stack>
          <Text>{t('operator.payoutForm.destination')}</Text>
          <Problem error={request.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {t('common.cancel')}
            </Button>
            <Button loading={request.isPending} onClick={() => request.mutate({ amountCents })}>
              {t('operator.payoutForm.confirm', { amount: money(amountCents) })}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Section>
  )
}

const list = new Intl.ListFormat(language, { type: 'unit', style: 'short' })

/** Returns the parts of the balance, such as "€20.00 available, €3.50 pending". */
const balanceText = ({ availableCents, pendingEarningsCents, pendingCents }: Overview): string =>
  list.format([
    t('operator.payoutForm.available', { amount: money(availableCents) }),
    ...(pendingEarningsCents > 0
      ? [t('operator.payoutForm.pending', { amount: money(pendingEarningsCents) })]
      : []),
    ...(pendingCents > 0 ? [t('operator.payoutForm.onTheWay', { amount: money(pendingCents) })] : []),
  ])

function useRequestPayout(onDone: () => void) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useIdempotentMutation({
    send: (body: { amountCents: number }, key) =>
      answerOf(rest.POST('/api/payments/payout', { body, params: { header: { 'Idempotency-Key': key } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keys.payouts })
      void queries.invalidateQueries({ queryKey: keys.stats })
      onDone()
    },
  })
}

function problemOf(cents: number, { availableCents, minimumCents }: Overview): string | undefined {
  if (!Number.isFinite(cents) || cents < minimumCents)
    return t('operator.payoutForm.belowMinimum', { amount: money(minimumCents) })
  if (cents > availableCents) return t('operator.payoutForm.aboveBalance', { amount: money(availableCents) })
  return undefined
}

function outcomeOf({ status, amountCents }: Schemas['Payout']): string {
  const amount = money(amountCents)
  if (status === 'PAID') return t('operator.payoutForm.transferred', { amount })
  return status === 'FAILED'
    ? t('operator.payoutForm.failed', { amount })
    : t('operator.payoutForm.underWay', { amount })
}
