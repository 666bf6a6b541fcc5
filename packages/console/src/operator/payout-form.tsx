import { Button, Group, Modal, NumberInput, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { money } from '../ui/format.ts'
import { Section } from '../ui/section.tsx'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useIdempotentMutation } from './idempotent-mutation.ts'

type Overview = Schemas['PayoutOverview']

/** Asks for a payout: of all there is, or of an amount; the amount is confirmed. */
export function PayoutForm({ overview }: { overview: Overview }) {
  const { availableCents, pendingEarningsCents, pendingCents, minimumCents } = overview
  const [part, setPart] = useState(false)
  const [euros, setEuros] = useState<number | string>('')
  const [shown, setShown] = useState(false)
  const [opened, { open, close }] = useDisclosure(false)
  const ask = useAsk(close)
  const amountCents = part ? Math.round(Number(euros) * 100) : availableCents
  const problem = problemOf(amountCents, overview)
  const tooLittle = availableCents < minimumCents
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setShown(true)
    ask.reset()
    if (!problem) open()
  }
  return (
    <Section title="Ask for a payout">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text>
            {money(availableCents)} available
            {pendingEarningsCents > 0 && `, ${money(pendingEarningsCents)} pending`}
            {pendingCents > 0 && `, ${money(pendingCents)} on the way`}
          </Text>
          {overview.nextAvailableAt && (
            <Text size="sm" c="dimmed">
              Pending earnings become available when the owner’s invoice is paid; the first of them at the
              latest on <Time at={overview.nextAvailableAt} exact />.
            </Text>
          )}
          {tooLittle ? (
            <Text c="dimmed">A payout is at least {money(minimumCents)}.</Text>
          ) : (
            <>
              <Radio.Group
                label="How much"
                value={part ? 'part' : 'all'}
                onChange={(value) => setPart(value === 'part')}
              >
                <Stack gap="xs" mt="xs">
                  <Radio value="all" label={`All, ${money(availableCents)}`} />
                  <Radio value="part" label="An amount" />
                </Stack>
              </Radio.Group>
              {part && (
                <NumberInput
                  label="Amount in euros"
                  description={`At least ${money(minimumCents)}`}
                  hideControls
                  decimalScale={2}
                  allowNegative={false}
                  value={euros}
                  error={shown && problem}
                  onChange={setEuros}
                />
              )}
              <Group>
                <Button type="submit">Ask for a payout</Button>
              </Group>
            </>
          )}
          <Text size="sm" role="status">
            {ask.data ? outcomeOf(ask.data) : ''}
          </Text>
        </Stack>
      </form>
      <Modal opened={opened} onClose={close} title={`Have ${money(amountCents)} paid out?`}>
        <Stack>
          <Text>It is transferred to your payout account at the payment provider.</Text>
          <Problem error={ask.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button loading={ask.isPending} onClick={() => ask.mutate({ amountCents })}>
              Pay out {money(amountCents)}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Section>
  )
}

function useAsk(onDone: () => void) {
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
  if (!Number.isFinite(cents) || cents < minimumCents) return `A payout is at least ${money(minimumCents)}`
  if (cents > availableCents) return `Only ${money(availableCents)} are available`
  return undefined
}

function outcomeOf({ status, amountCents }: Schemas['Payout']): string {
  const amount = money(amountCents)
  if (status === 'PAID') return `${amount} were transferred.`
  return status === 'FAILED'
    ? `${amount} could not be transferred; see below why.`
    : `${amount} are on the way.`
}
