import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { Saved } from '../ui/form.tsx'
import { Problem } from '../ui/states.tsx'
import { availabilityKey, scheduleKey } from './queries.ts'
import { type DraftWeek, draftOf, MAX_SLOTS, problemsOf, sameWeek, scheduleOf, weekdays } from './week.ts'
import { WeekChart } from './week-chart.tsx'
import { DayEditor } from './week-day.tsx'

/** Asks for confirmation before the user leaves a page with unsaved changes or closes the browser. */
function UnsavedChangesGuard({ when }: { when: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => when,
    enableBeforeUnload: () => when,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={t('operator.leave.question')}>
      <Stack>
        <Text>{t('operator.leave.consequence')}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {t('operator.leave.stay')}
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            {t('operator.leave.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type Schedule = Schemas['Schedule']

/** Edits the week and saves it as a whole. */
export function WeekEditor({ saved }: { saved: Schedule }) {
  const [draft, setDraft] = useState<DraftWeek>(() => draftOf(saved))
  const [base, setBase] = useState(saved)
  if (base !== saved) {
    // The schedule was saved here or in another window. Shows it unless the draft has other changes.
    setBase(saved)
    if (sameWeek(draft, base)) setDraft(draftOf(saved))
  }
  const save = useSave(setDraft)
  const problems = problemsOf(draft.slots)
  const tooMany = draft.slots.length > MAX_SLOTS
  const changed = !sameWeek(draft, saved)
  const change = (next: Partial<DraftWeek>) => {
    save.reset()
    setDraft((old) => ({ ...old, ...next }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problems.size === 0 && !tooMany) save.mutate(draft)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <ZoneField zone={draft.timezone} onChange={(timezone) => change({ timezone })} />
        <WeekChart slots={draft.slots} />
        {weekdays.map((day) => (
          <DayEditor
            key={day.weekday}
            day={day}
            slots={draft.slots}
            problems={problems}
            onChange={(slots) => change({ slots })}
          />
        ))}
        {tooMany && (
          <Text c="red" role="alert">
            {t('operator.schedule.tooMany', { slots: MAX_SLOTS })}
          </Text>
        )}
        <Problem error={save.error} />
        <Group>
          <Button type="submit" disabled={problems.size > 0 || tooMany} loading={save.isPending}>
            {t('common.save')}
          </Button>
          {changed && (
            <Button variant="default" onClick={() => change(draftOf(saved))}>
              {t('operator.schedule.undo')}
            </Button>
          )}
          {changed ? (
            <Text size="sm">{t('operator.schedule.unsaved')}</Text>
          ) : (
            <Saved when={save.isSuccess} />
          )}
        </Group>
      </Stack>
      <UnsavedChangesGuard when={changed && !save.isPending} />
    </form>
  )
}

function useSave(onSaved: (week: DraftWeek) => void) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (week: DraftWeek) =>
      answerOf(rest.POST('/api/operator/schedule', { body: scheduleOf(week) })),
    onSuccess: (schedule) => {
      queries.setQueryData(scheduleKey, schedule)
      onSaved(draftOf(schedule))
      void queries.invalidateQueries({ queryKey: availabilityKey })
    },
  })
}

const ZoneField = ({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) => (
  <Select
    label={t('operator.schedule.zone')}
    description={t('operator.schedule.zoneNote')}
    required
    searchable
    allowDeselect={false}
    limit={50}
    maw={360}
    data={[...new Set([zone, ...Intl.supportedValuesOf('timeZone')])]}
    value={zone}
    onChange={(chosen) => chosen && onChange(chosen)}
  />
)
