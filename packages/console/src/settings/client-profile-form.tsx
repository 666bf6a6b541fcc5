import { SimpleGrid, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { Form, FormFooter, fieldErrors } from '../base/form.tsx'
import { QueryView } from '../base/states.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { CountrySelect } from './country-select.tsx'

type Profile = Schemas['ClientProfile']
const fields = ['contact_email', 'company_name', 'phone', 'country', 'vat_id'] as const
type Field = (typeof fields)[number]

const labels: Record<
  Exclude<Field, 'country'>,
  {
    label: string
    description?: string
    type?: string
    inputMode?: 'email'
    autoComplete: string
  }
> = {
  contact_email: { label: t('profiles.client.contactEmail'), inputMode: 'email', autoComplete: 'email' },
  company_name: { label: t('profiles.client.company'), autoComplete: 'organization' },
  phone: { label: t('profiles.client.phone'), type: 'tel', autoComplete: 'tel' },
  vat_id: {
    label: t('profiles.client.vatNumber'),
    description: t('profiles.client.vatNumberNote'),
    autoComplete: 'off',
  },
}

/** Edits the contact and billing data of an owner. */
export function ClientProfileForm({ onSaved }: { onSaved?: () => void }) {
  const query = useRead(keys.clientProfile, (rest) => rest.GET('/api/client/profile'))
  return <QueryView query={query}>{(profile) => <Fields saved={profile} onSaved={onSaved} />}</QueryView>
}

function Fields({ saved, onSaved }: { saved: Profile; onSaved?: (() => void) | undefined }) {
  const { rest } = usePlatform()
  const { email } = useMe()
  const queries = useQueryClient()
  const [values, setValues] = useState<Record<Field, string>>({
    contact_email: saved.contact_email ?? email ?? '',
    company_name: saved.company_name ?? '',
    phone: saved.phone ?? '',
    country: saved.country ?? '',
    vat_id: saved.vat_id ?? '',
  })
  const save = useMutation({
    mutationFn: () => {
      const entries = fields.map((field) => [field, values[field].trim() || null] as const)
      return answerOf(rest.PATCH('/api/client/profile', { body: Object.fromEntries(entries) }))
    },
    onSuccess: (profile) => {
      queries.setQueryData(keys.clientProfile, profile)
      onSaved?.()
    },
  })
  const errors = fieldErrors(save.error, fields)
  const change = (field: Field, value: string) => setValues((old) => ({ ...old, [field]: value }))
  return (
    <Form onSubmit={() => save.mutate()}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {fields.map((field) =>
          field === 'country' ? (
            <CountrySelect
              key={field}
              value={values.country || null}
              error={errors?.country}
              onChange={(country) => change('country', country ?? '')}
            />
          ) : (
            <TextInput
              key={field}
              {...labels[field]}
              required={field === 'contact_email'}
              value={values[field]}
              error={errors?.[field]}
              onChange={({ currentTarget: { value } }) => change(field, value)}
            />
          ),
        )}
      </SimpleGrid>
      <FormFooter change={save} explained={errors !== undefined} />
    </Form>
  )
}
