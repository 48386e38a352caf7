from django.db import migrations

from selection.accounts import secret_encryption


def seal(apps, schema_editor):
    """What authenticator apps and recovery codes are made of lay there as it is."""
    authenticators = apps.get_model("mfa", "Authenticator").objects
    secret_encryption.reencrypt_all(authenticators.using(schema_editor.connection.alias).all())


def unseal(apps, schema_editor):
    """Older code reads it as it is."""
    authenticators = apps.get_model("mfa", "Authenticator").objects
    for one in authenticators.using(schema_editor.connection.alias).exclude(type="webauthn"):
        plain = {name: secret_encryption.decrypt_secret(text) for name, text in one.data.items() if name in secret_encryption.NAMES}
        one.data |= plain
        one.save(update_fields=["data"])


class Migration(migrations.Migration):

    dependencies = [
        ('selection', '0016_exposure'),
        ('mfa', '0003_authenticator_type_uniq'),
    ]

    operations = [migrations.RunPython(seal, unseal)]
