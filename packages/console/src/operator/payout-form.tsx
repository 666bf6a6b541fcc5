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

/** Requests a payout of the whole balance or of an amount, after a confirmation. */
export function PayoutForm({ overview }: { overview: Overview }) {
  const { availableCents, pendingEarningsCents, pendingCents, minimumCents } = overview
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
    <Section title="Request a payout">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text>
            {money(availableCents)} available
            {pendingEarningsCents > 0 && `, ${money(pendingEarningsCents)} pending`}
            {pendingCents > 0 && `, ${money(pendingCents)} on the way`}
          </Text>
          {overview.nextAvailableAt && (
            <Text size="sm" c="dimmed">
              Pending earnings become available when the owner pays the invoice. The first ones become
              available on <Time at={overview.nextAvailableAt} exact /> at the latest.
            </Text>
          )}
          {belowMinimum ? (
            <Text c="dimmed">The minimum payout is {money(minimumCents)}.</Text>
          ) : (
            <>
              <Radio.Group
                label="Amount"
                value={partial ? 'part' : 'all'}
                onChange={(value) => setPartial(value === 'part')}
              >
                <Stack gap="xs" mt="xs">
                  <Radio value="all" label={`All: ${money(availableCents)}`} />
                  <Radio value="part" label="Other amount" />
                </Stack>
              </Radio.Group>
              {partial && (
                <NumberInput
                  label="Amount in euros"
                  description={`Minimum ${money(minimumCents)}`}
                  hideControls
                  decimalScale={2}
                  allowNegative={false}
                  value={euros}
                  error={submitted && problem}
                  onChange={setEuros}
                />
              )}
              <Group>
                <Button type="submit">Request payout</Button>
              </Group>
            </>
          )}
          <Text size="sm" role="status">
            {request.data ? outcomeOf(request.data) : ''}
          </Text>
        </Stack>
      </form>
      <Modal opened={opened} onClose={close} title={`Pay out ${money(amountCents)}?`}>
        <Stack>
          <Text>The amount goes to your payout account at the payment provider.</Text>
          <Problem error={request.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button loading={request.isPending} onClick={() => request.mutate({ amountCents })}>
              Pay out {money(amountCents)}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Section>
  )
}

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
  if (!Number.isFinite(cents) || cents < minimumCents) return `The minimum payout is ${money(minimumCents)}`
  if (cents > availableCents) return `Only ${money(availableCents)} is available`
  return undefined
}

function outcomeOf({ status, amountCents }: Schemas['Payout']): string {
  const amount = money(amountCents)
  if (status === 'PAID') return `${amount} transferred.`
  return status === 'FAILED'
    ? `The transfer of ${amount} failed. See the list below.`
    : `${amount} is on the way.`
}
