use crate::family::{Family, prefixed};

/// Secrets for which a prefix or a name does not suffice, and which are recognised one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    PrivateKey,
    UrlPassword,
    SlackWebhook,
    DiscordWebhook,
    TeamsWebhook,
    DiscordBotToken,
    TelegramBotToken,
    AzureClientSecret,
    AzureSas,
    TwilioApiKey,
    MailchimpKey,
    OpenShiftToken,
    BraintreeToken,
    AuthorizationHeader,
    AssignedPassword,
    AssignedSecret,
    AssignedToken,
}

/// One for each of [`Marked`], in its order.
pub(crate) const FAMILIES: &[Family] = &[
    prefixed("private-key", "Private key in PEM or OpenPGP armour, also without its end", &[]),
    prefixed("url-password", "Password in a URL", &[]),
    prefixed("slack-webhook", "Slack webhook", &[]),
    prefixed("discord-webhook", "Discord webhook", &[]),
    prefixed("teams-webhook", "Microsoft Teams webhook", &[]),
    prefixed("discord-bot-token", "Discord bot token", &[]),
    prefixed("telegram-bot-token", "Telegram bot token", &[]),
    prefixed("azure-client-secret", "Microsoft Entra client secret", &[]),
    prefixed("azure-sas", "Azure signature in a URL", &[]),
    prefixed("twilio-api-key", "Twilio API key", &[]),
    prefixed("mailchimp-key", "Mailchimp API key", &[]),
    prefixed("openshift-token", "OpenShift token", &[]),
    prefixed("braintree-token", "PayPal Braintree access token", &[]),
    prefixed("authorization-header", "What follows `Bearer` or `Basic`", &[]),
    prefixed("assigned-password", "Value that looks random and is assigned to a password", &[]),
    prefixed("assigned-secret", "Value that looks random and is assigned to a secret or key", &[]),
    prefixed("assigned-token", "Value that looks random and is assigned to a token", &[]),
];
