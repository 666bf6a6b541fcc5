/** What the payment provider asks for, by the end of its own name for it. */
const labels: Readonly<Record<string, string>> = {
  date_of_birth: 'Your date of birth',
  default_outbound_destination: 'The bank account that you are paid to',
  external_account: 'The bank account that you are paid to',
  given_name: 'Your first name',
  surname: 'Your last name',
  email: 'Your e-mail address',
  phone: 'Your telephone number',
  address: 'Your address',
  id_numbers: 'Your tax or identity number',
  'verification.document': 'A picture of your identity document',
  document: 'A picture of your identity document',
  'documents.primary_verification': 'A picture of your identity document',
  tos_acceptance: "Your consent to the provider's terms",
  'terms_of_service.account': "Your consent to the provider's terms",
}

/** A requirement such as `identity.individual.date_of_birth` in plain words; unknown ones as they can be read. */
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
