import { MultiSelect, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useMemo, useState } from 'react'
import { Form, FormFooter, fieldErrors } from '../base/form.tsx'
import { viewerZone } from '../base/format.ts'
import { QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { CountrySelect, languageChoices, zoneChoices } from './country-select.tsx'

type Profile = Schemas['OperatorProfile']
const fields = ['headline', 'bio', 'country', 'timezone', 'languages'] as const

/** Edits the profile of an operator. */
export function OperatorProfileForm({ onSaved }: { onSaved?: () => void }) {
  const query = useRead(keys.operatorProfile, (rest) => rest.GET('/api/operator/profile'))
  return <QueryView query={query}>{(profile) => <Fields saved={profile} onSaved={onSaved} />}</QueryView>
}

function useSave(onSaved: (() => void) | undefined) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (values: {
      headline: string
      bio: string
      country: string | null
      timezone: string
      languages: string[]
    }) =>
      answerOf(
        rest.POST('/api/operator/profile', {
          body: {
            headline: values.headline.trim() || null,
            bio: values.bio.trim() || null,
            country: values.country,
            timezone: values.timezone,
            languages: values.languages,
          },
        }),
      ),
    onSuccess: (profile) => {
      queries.setQueryData(keys.operatorProfile, profile)
      onSaved?.()
    },
  })
}

function Fields({ saved, onSaved }: { saved: Profile; onSaved?: (() => void) | undefined }) {
  const [headline, setHeadline] = useState(saved.headline ?? '')
  const [bio, setBio] = useState(saved.bio ?? '')
  const [country, setCountry] = useState(saved.country)
  const [timezone, setTimezone] = useState(saved.timezone ?? viewerZone())
  const [languages, setLanguages] = useState(saved.languages)
  const save = useSave(onSaved)
  const errors = fieldErrors(save.error, fields)
  const zones = useMemo(() => zoneChoices(timezone), [timezone])
  const languageOptions = useMemo(() => languageChoices(languages), [languages])
  return (
    <Form onSubmit={() => save.mutate({ headline, bio, country, timezone, languages })}>
      <TextInput
        label={t('profiles.operator.headline')}
        description={t('profiles.operator.headlineNote')}
        required
        value={headline}
        error={errors?.headline}
        onChange={(event) => setHeadline(event.currentTarget.value)}
      />
      <Textarea
        label={t('profiles.operator.about')}
        autosize
        minRows={3}
        value={bio}
        error={errors?.bio}
        onChange={(event) => setBio(event.currentTarget.value)}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={t('profiles.operator.timeZone')}
          description={t('profiles.operator.timeZoneNote')}
          required
          searchable
          allowDeselect={false}
          limit={50}
          data={zones}
          value={timezone}
          error={errors?.timezone}
          onChange={(zone) => zone && setTimezone(zone)}
        />
        <CountrySelect value={country} error={errors?.country} onChange={setCountry} />
      </SimpleGrid>
      <MultiSelect
        label={t('profiles.operator.languages')}
        description={t('profiles.operator.languagesNote')}
        searchable
        hidePickedOptions
        limit={50}
        maxValues={20}
        data={languageOptions}
        value={languages}
        error={errors?.languages}
        onChange={setLanguages}
      />
      <FormFooter change={save} explained={errors !== undefined} />
    </Form>
  )
}
