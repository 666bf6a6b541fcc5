import { t } from '../texts/texts.ts'

/** Labels of the payment provider's requirements, by the end of their names. */
const labels: Readonly<Record<string, string>> = {
  date_of_birth: t('operator.requirements.dateOfBirth'),
  default_outbound_destination: t('operator.requirements.bankAccount'),
  external_account: t('operator.requirements.bankAccount'),
  given_name: t('operator.requirements.firstName'),
  surname: t('operator.requirements.lastName'),
  email: t('operator.requirements.email'),
  phone: t('operator.requirements.phone'),
  address: t('operator.requirements.address'),
  id_numbers: t('operator.requirements.idNumber'),
  'verification.document': t('operator.requirements.document'),
  document: t('operator.requirements.document'),
  'documents.primary_verification': t('operator.requirements.document'),
  tos_acceptance: t('operator.requirements.terms'),
  'terms_of_service.account': t('operator.requirements.terms'),
}

/** Returns the label of a requirement such as `identity.individual.date_of_birth`. An unknown name becomes words. */
export function requirementLabel(name: string): string {
  const parts = name.split('.')
  for (let from = 0; from < parts.length; from++) {
    const known = labels[parts.slice(from).join('.')]
    if (known) return known
  }
  const address = parts.includes('address') ? labels.address : undefined
  return address ?? sentence(parts.at(-1) ?? name)
}

const sentence = (word: string): string => {
  const text = word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
