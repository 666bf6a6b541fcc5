import { MultiSelect, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import countryCodes from 'i18n-iso-countries/codes.json'
import languageCodes from 'iso-639-1'
import { useMemo, useState } from 'react'
import { Form, FormFooter, useFields } from '../base/form.tsx'
import { viewerZone } from '../base/format.ts'
import { QueryView } from '../base/states.tsx'
import { ZoneSelect } from '../base/zone-select.tsx'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { language, t } from '../texts/texts.ts'

interface FormProps {
  readonly onSaved?: (() => void) | undefined
}

export const ClientProfileForm = ({ onSaved }: FormProps) => (
  <QueryView query={useRead(keys.clientProfile, (rest) => rest.GET('/api/client/profile'))}>
    {(profile) => <ClientFields saved={profile} onSaved={onSaved} />}
  </QueryView>
)

function ClientFields({ saved, onSaved }: FormProps & { saved: Schemas['ClientProfile'] }) {
  const { email } = useMe()
  const save = useWrite(
    (rest, body: Partial<Schemas['ClientProfile']>) => rest.PATCH('/api/client/profile', { body }),
    { stores: keys.clientProfile, onSuccess: onSaved },
  )
  const { values, field, errors } = useFields(
    {
      contact_email: saved.contact_email ?? email ?? '',
      company_name: saved.company_name ?? '',
      phone: saved.phone ?? '',
      country: saved.country ?? '',
      vat_id: saved.vat_id ?? '',
    },
    save.error,
  )
  const body = () =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text.trim() || null]))
  return (
    <Form onSubmit={() => save.mutate(body())}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label={t('profiles.client.contactEmail')}
          inputMode="email"
          autoComplete="email"
          required
          {...field('contact_email')}
        />
        <TextInput
          label={t('profiles.client.company')}
          autoComplete="organization"
          {...field('company_name')}
        />
        <TextInput label={t('profiles.client.phone')} type="tel" autoComplete="tel" {...field('phone')} />
        <CountrySelect
          {...field('country')}
          value={values.country || null}
          onChange={(country) => field('country').onChange(country ?? '')}
        />
        <TextInput
          label={t('profiles.client.vatNumber')}
          description={t('profiles.client.vatNumberNote')}
          autoComplete="off"
          {...field('vat_id')}
        />
      </SimpleGrid>
      <FormFooter change={save} explained={errors !== undefined} />
    </Form>
  )
}

export const OperatorProfileForm = ({ onSaved }: FormProps) => (
  <QueryView query={useRead(keys.operatorProfile, (rest) => rest.GET('/api/operator/profile'))}>
    {(profile) => <OperatorFields saved={profile} onSaved={onSaved} />}
  </QueryView>
)

function OperatorFields({ saved, onSaved }: FormProps & { saved: Schemas['OperatorProfile'] }) {
  const initial = {
    headline: saved.headline ?? '',
    bio: saved.bio ?? '',
    country: saved.country,
    timezone: saved.timezone ?? viewerZone(),
    languages: saved.languages,
  }
  const save = useWrite(
    (rest, { headline, bio, ...values }: typeof initial) => {
      const body = { headline: headline.trim() || null, bio: bio.trim() || null, ...values }
      return rest.POST('/api/operator/profile', { body })
    },
    { stores: keys.operatorProfile, onSuccess: onSaved },
  )
  const { values, field, errors } = useFields(initial, save.error)
  // All languages, and chosen tags such as `pt-BR`.
  const languageOptions = useMemo(
    () => namedChoices('language', new Set([...languageCodes.getAllCodes(), ...values.languages])),
    [values.languages],
  )
  return (
    <Form onSubmit={() => save.mutate(values)}>
      <TextInput
        label={t('profiles.operator.headline')}
        description={t('profiles.operator.headlineNote')}
        required
        {...field('headline')}
      />
      <Textarea label={t('profiles.operator.about')} minRows={3} {...field('bio')} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <ZoneSelect
          label={t('profiles.operator.timeZone')}
          description={t('profiles.operator.timeZoneNote')}
          {...field('timezone')}
        />
        <CountrySelect {...field('country')} />
      </SimpleGrid>
      <MultiSelect
        label={t('profiles.operator.languages')}
        description={t('profiles.operator.languagesNote')}
        searchable
        hidePickedOptions
        limit={50}
        maxValues={20}
        data={languageOptions}
        {...field('languages')}
      />
      <FormFooter change={save} explained={errors !== undefined} />
    </Form>
  )
}

const countries = namedChoices(
  'region',
  countryCodes.map(([code]) => code as string),
)

interface CountryProps {
  readonly value: string | null
  readonly error: string | undefined
  readonly onChange: (code: string | null) => void
}

/**
 * Renders a select of countries, searchable by name. A typed name selects its country when the field is left; another
 * text is reported, because it is not stored.
 */
function CountrySelect({ value, error, onChange }: CountryProps) {
  const [search, setSearch] = useState('')
  const [unknown, setUnknown] = useState<string>()
  const change = (code: string | null) => {
    setUnknown(undefined)
    onChange(code)
  }
  const selectTyped = () => {
    const typed = search.trim()
    if (typed === '' || countries.some(({ value: code, label }) => code === value && label === typed)) return
    const choice = choiceOf(countries, typed)
    if (choice) change(choice.value)
    else setUnknown(typed)
  }
  return (
    <Select
      label={t('profiles.country.label')}
      searchable
      clearable
      limit={50}
      nothingFoundMessage={t('profiles.country.noMatch')}
      autoComplete="country-name"
      data={countries}
      value={value}
      searchValue={search}
      onSearchChange={setSearch}
      onBlur={selectTyped}
      selectFirstOptionOnChange
      error={unknown === undefined ? error : t('profiles.country.unknown', { name: unknown })}
      onChange={change}
    />
  )
}

type Choices = ReturnType<typeof namedChoices>

function choiceOf(choices: Choices, typed: string) {
  const text = typed.toLowerCase()
  return choices.find(({ value, label }) => {
    const [whole, code] = [label.toLowerCase(), value.toLowerCase()]
    return text === whole || text === code || whole === `${text} (${code})`
  })
}

/** Returns choices whose labels are the name and the code, such as `Germany (DE)`. */
function namedChoices(type: 'region' | 'language', codes: Iterable<string>) {
  const names = new Intl.DisplayNames(language, { type, fallback: 'none' })
  // Browsers lack the names of some languages.
  const nameOf = (code: string) => names.of(code) ?? (languageCodes.getName(code) || code)
  return [...codes]
    .map((value) => ({ value, label: `${nameOf(value)} (${value})` }))
    .sort((a, b) => a.label.localeCompare(b.label, language))
}
