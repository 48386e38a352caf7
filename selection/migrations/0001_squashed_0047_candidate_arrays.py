"""All tables of 0001 to 0047 at once, for databases without any.

A database that has some of these goes on with the migrations themselves, and every database goes
back by them (``migrate selection NUMBER``). Migrations of rows are left out, except the first team.
"""

import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import selection.algorithms
import selection.models.media
import selection.models.teams
import selection.models.webhooks
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

from selection.models.candidate_arrays import drop_triggers


REPLACED = """
    0001_initial 0002_quotas 0003_skills 0004_pause_and_progress 0005_recorded_answer
    0006_life 0007_gold 0008_price 0009_planning 0010_belief 0011_one_kind_each 0012_outlook
    0013_teams 0014_audit 0015_account 0016_exposure 0017_creations 0018_files
    0020_worker_page 0021_webhooks 0022_pulses 0023_sealed 0024_arrival 0025_drop_audit_chain
    0026_plain_names 0027_replay 0028_mail 0029_replay_columns 0030_plain_labels
    0031_model_workers 0032_connectors 0033_platforms 0034_money 0035_groups
    0036_model_protocol 0037_jobs 0038_reply_results 0039_structured_replies
    0040_evaluation_inputs 0041_keep_no_shows 0043_marks 0046_taken_part
    0047_candidate_arrays
""".split()


def make_first_team(apps, editor):
    teams = apps.get_model('selection', 'Team').objects.using(editor.connection.alias)
    teams.create(name=selection.models.teams.FIRST)


def store_arrays_as_they_are(apps, editor):
    """Compressing them takes longer than writing them."""
    if editor.connection.vendor == 'postgresql':
        editor.execute('ALTER TABLE selection_candidatearrays ALTER COLUMN content SET STORAGE EXTERNAL')


def forget_triggers(apps, editor):
    drop_triggers(editor.connection)


class CreateTables(Operation):
    """Create models, which are rendered once: otherwise each one renders all that it refers to."""

    def __init__(self, models):
        self.models = models

    def state_forwards(self, app_label, state):
        vars(state).pop('apps', None)  # rendered anew when it is next asked for
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self):
        return 'Create all tables'


class Migration(migrations.Migration):

    replaces = [('selection', name) for name in REPLACED]

    initial = True

    dependencies = [
        ('auth', '__first__'),
        ('mfa', '0003_authenticator_type_uniq'),
    ]

    operations = [
        CreateTables([
            migrations.CreateModel(
                name='Team',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('by', models.CharField(blank=True, default='', editable=False, max_length=150)),
                    ('expires', models.DateTimeField(blank=True, help_text='Leave blank for a token that never expires.', null=True)),
                    ('prefix', models.CharField(blank=True, default='', editable=False, max_length=9)),
                    ('revoked', models.DateTimeField(editable=False, null=True)),
                    ('scope', models.CharField(choices=[('read', 'read: view everything, change nothing'), ('answer', 'answer: fetch open questions and send answers only'), ('manage', 'manage: full access to the API')], default='manage', max_length=10, verbose_name='may')),
                    ('used', models.DateTimeField(editable=False, null=True, verbose_name='last used')),
                    ('team', models.ForeignKey(db_index=False, default=selection.models.teams.default_team, on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='selection.team')),
                ],
                options={
                    'verbose_name': 'API token',
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='token_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='Pool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(db_index=False, default=selection.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='selection.team')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='pool_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                },
            ),
            migrations.CreateModel(
                name='QuestionSet',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('instructions', models.TextField(blank=True, help_text='Shown to workers above every question.')),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(db_index=False, default=selection.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, related_name='question_sets', to='selection.team')),
                    ('markdown', models.BooleanField(default=True, help_text='**bold**, lists, links and tables. When off, text is shown exactly as typed. Images, audio and video are shown either way.', verbose_name='use Markdown')),
                    ('tries', models.PositiveSmallIntegerField(blank=True, help_text='Workers who fail a required practice question this many times are excluded. Leave blank for unlimited attempts.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='attempts allowed in practice')),
                    ('most_workers', models.PositiveIntegerField(blank=True, help_text='Retires a question after this many workers have seen it in all runs, because answers may leak. Leave blank for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='max. workers per question')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='question_set_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                },
            ),
            migrations.CreateModel(
                name='Question',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('key', models.CharField(max_length=200, verbose_name='question')),
                    ('prompt', models.TextField()),
                    ('accepted', models.JSONField(default=list, verbose_name='accepted answers')),
                    ('choices', models.JSONField(blank=True, default=list)),
                    ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='selection.questionset')),
                    ('grading', models.JSONField(blank=True, default=dict)),
                    ('retired', models.DateTimeField(editable=False, null=True)),
                    ('retired_why', models.CharField(blank=True, default='', editable=False, max_length=300)),
                ],
                options={
                    'ordering': ['number'],
                    'constraints': [models.UniqueConstraint(fields=('question_set', 'number'), name='question_number_once'), models.UniqueConstraint(fields=('question_set', 'key'), name='question_once_in_set')],
                },
            ),
            migrations.CreateModel(
                name='Upload',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                    ('kind', models.CharField(choices=[('workers', 'Workers'), ('questions', 'Questions'), ('answers', 'Answers')], max_length=10)),
                    ('target', models.PositiveBigIntegerField()),
                    ('name', models.CharField(max_length=200)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.team')),
                    ('bad', models.PositiveIntegerField(default=0)),
                    ('content', models.BinaryField(default=b'')),
                    ('encoding', models.CharField(blank=True, max_length=20)),
                    ('error', models.CharField(blank=True, max_length=500)),
                    ('estimate', models.PositiveIntegerField(default=0)),
                    ('header', models.JSONField(default=list)),
                    ('moved', models.DateTimeField(null=True)),
                    ('outside', models.PositiveIntegerField(default=0)),
                    ('passed', models.PositiveIntegerField(default=0)),
                    ('plan', models.JSONField(default=dict)),
                    ('position', models.PositiveIntegerField(default=0)),
                    ('state', models.CharField(choices=[('open', 'waits to be told what its columns are'), ('reading', 'is being read'), ('ready', 'waits to be taken'), ('taken', 'is taken'), ('failed', 'cannot be read')], default='open', max_length=10)),
                    ('version', models.PositiveIntegerField(default=0)),
                    ('what', models.CharField(blank=True, max_length=200)),
                    ('accepted_rows', models.PositiveIntegerField(db_column='fine', default=0)),
                ],
                options={
                    'indexes': [models.Index(fields=['kind', 'target'], name='upload_by_target')],
                },
            ),
            migrations.CreateModel(
                name='Run',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('k', models.PositiveIntegerField(help_text='Number of workers to select.', verbose_name='K')),
                    ('algorithm', models.CharField(choices=selection.algorithms.algorithm_choices, default='adaptive-top-k', max_length=50)),
                    ('options', models.JSONField(blank=True, default=dict, editable=False)),
                    ('epsilon', models.FloatField(default=0.1, help_text='Target: the selection’s largest loss of accuracy against the best K. 0.1 is 10 percentage points.', validators=[django.core.validators.MinValueValidator(0.0)], verbose_name='ε')),
                    ('delta', models.FloatField(default=0.05, help_text='Risk of missing the target: 0.05 is one run in 20.', verbose_name='δ')),
                    ('budget', models.PositiveIntegerField(blank=True, help_text='In answers: the maximum number of assignments. Leave blank for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                    ('slots', models.PositiveIntegerField(default=100, help_text='Assignments that may await an answer at the same time.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='max. open assignments')),
                    ('slots_per_worker', models.PositiveIntegerField(default=3, help_text='Assignments that one worker may hold at the same time.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='max. open assignments per worker')),
                    ('minutes', models.PositiveIntegerField(default=60, help_text='Starts when the worker sees the question. A late answer counts as wrong.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(525600)], verbose_name='time limit per question (minutes)')),
                    ('recorded_only', models.BooleanField(default=False, help_text='Do not ask workers: use the answers imported into this run, as far as needed.', verbose_name='imported answers only')),
                    ('seed', models.PositiveBigIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(4611686018427387904)])),
                    ('status', models.CharField(choices=[('draft', 'Draft'), ('running', 'Running'), ('paused', 'Paused'), ('ended', 'Ended')], db_index=True, default='draft', editable=False, max_length=10)),
                    ('ending', models.CharField(blank=True, choices=[('promise', 'the guarantee was achieved'), ('budget', 'the budget is spent'), ('questions', 'the questions are used up'), ('stopped', 'it was stopped by hand'), ('roster', 'it needs all remaining workers'), ('regraded', 'it used a grading that was corrected later')], editable=False, max_length=10)),
                    ('deck_size', models.PositiveIntegerField(default=0, editable=False)),
                    ('steps', models.PositiveIntegerField(default=0, editable=False)),
                    ('memory', models.JSONField(default=dict, editable=False)),
                    ('has_recorded', models.BooleanField(default=False, editable=False)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('started', models.DateTimeField(editable=False, null=True)),
                    ('ended', models.DateTimeField(editable=False, null=True)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='selection.pool')),
                    ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='selection.questionset')),
                    ('quotas', models.JSONField(blank=True, default=dict, editable=False)),
                    ('paused', models.DateTimeField(editable=False, null=True)),
                    ('concluded', models.DateTimeField(editable=False, null=True)),
                    ('enrol_most', models.PositiveIntegerField(blank=True, help_text='The roster then closes automatically.', null=True, validators=[django.core.validators.MinValueValidator(2)], verbose_name='close after this many workers')),
                    ('enrol_until', models.DateTimeField(blank=True, help_text='The roster then closes automatically.', null=True, verbose_name='close at')),
                    ('enrolling', models.BooleanField(default=False, help_text='Workers may join until the roster closes; only then are workers accepted or rejected.', verbose_name='open roster')),
                    ('hours_to_come', models.FloatField(blank=True, help_text='Workers who do nothing for this long count as gone and are not tested. Leave blank to wait for all workers.', null=True, validators=[django.core.validators.MinValueValidator(0.05), django.core.validators.MaxValueValidator(8760)], verbose_name='no-show timeout (hours)')),
                    ('joined', models.PositiveIntegerField(default=0, editable=False)),
                    ('proof', models.JSONField(default=dict, editable=False)),
                    ('regraded', models.DateTimeField(editable=False, null=True)),
                    ('currency', models.CharField(blank=True, default='€', help_text='A symbol or a code: €, $, EUR.', max_length=10)),
                    ('price', models.DecimalField(blank=True, decimal_places=4, help_text='Include platform fees. Leave blank to see answer counts only.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name='price per answer')),
                    ('belief', models.JSONField(blank=True, default=dict, editable=False)),
                    ('one_kind_each', models.BooleanField(choices=[(False, 'for several kinds of task'), (True, 'for at most one kind of task')], default=False, help_text='For runs with several question sets: a worker among the best in two of them can be selected for both, or for one only.', verbose_name='a worker may be selected')),
                    ('team', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='selection.team')),
                    ('page', models.JSONField(blank=True, default=dict, editable=False)),
                    ('left_out', models.JSONField(blank=True, default=list, help_text='Ids of excluded workers.')),
                    ('met', models.CharField(choices=[('skip', 'are skipped for that worker'), ('out', 'keep that worker out of the run'), ('again', 'may be asked again')], default='again', help_text='Questions that a worker with the same id saw or answered in another run, in this set or with the same key and text in another set.', max_length=10, verbose_name='questions seen before')),
                    ('only', models.JSONField(blank=True, default=list, help_text='Ids of the eligible workers. Leave blank for all workers.')),
                    ('rationed', models.BooleanField(default=False, editable=False)),
                    ('absence_since', models.DateTimeField(db_column='called', editable=False, null=True)),
                    ('alerts_sent', models.JSONField(db_column='told', default=list, editable=False)),
                    ('link_version', models.PositiveSmallIntegerField(db_column='links', default=0, editable=False)),
                    ('completion', models.CharField(choices=[('redirect', 'a link back'), ('code', 'a code that workers enter there')], db_default='redirect', default='redirect', help_text='What workers hand in at the end.', max_length=10)),
                    ('completion_url', models.CharField(blank=True, db_default='', default='', help_text='It takes workers back, and may contain {worker}, {task} and {code}. Leave blank for the platform’s own.', max_length=500, verbose_name='return address')),
                    ('platform', models.CharField(blank=True, choices=[('', 'any platform'), ('prolific', 'Prolific'), ('connect', 'Connect'), ('besample', 'Besample'), ('sona', 'SONA'), ('mturk', 'Amazon Mechanical Turk'), ('custom', 'another platform')], db_default='', default='', help_text='It sends workers to the join link. Without a choice the link recognises the parameters worker, workerId and PROLIFIC_PID.', max_length=10)),
                    ('worker_parameter', models.CharField(blank=True, db_default='', default='', help_text='The name before the id in the link, for example participant. Leave blank for the platform’s usual one.', max_length=60, verbose_name='parameter with the worker’s id')),
                    ('by_price', models.BooleanField(db_default=False, default=False, help_text="Ask cheaper workers more, so that the selection costs less. The guarantee then assumes that prices tell nothing of accuracy. A model's price comes from its settings and calls; a person's is the attribute “price”, or else the price per answer.", verbose_name='spend by price')),
                    ('grouped_by', models.CharField(blank=True, db_default='', default='', help_text='A worker attribute, for example source with the values proven and new, if its groups may differ in accuracy before the run. The guarantee then assumes that workers of the same group were comparable before the run. Leave blank for one group.', max_length=200, verbose_name='groups by attribute')),
                    ('keep_no_shows', models.BooleanField(db_default=False, default=False, help_text='The guarantee covers workers with a counted answer, or no-shows as well. Decide before you see answers.', verbose_name='no-shows stay in the pool at the end')),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('epsilon__gte', 0), ('epsilon__lt', 1)), name='run_epsilon_in_range'), models.CheckConstraint(condition=models.Q(('delta__gt', 0), ('delta__lt', 1)), name='run_delta_in_range'), models.UniqueConstraint(fields=('team', 'name'), name='run_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                },
            ),
            migrations.CreateModel(
                name='Step',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('at', models.DateTimeField()),
                    ('applied', models.PositiveIntegerField()),
                    ('dealt', models.PositiveIntegerField()),
                    ('accepted', models.PositiveIntegerField()),
                    ('rejected', models.PositiveIntegerField()),
                    ('gap', models.FloatField()),
                    ('wanted', models.FloatField()),
                    ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='history', to='selection.run')),
                    ('closed', models.FloatField(default=0)),
                ],
                options={
                    'ordering': ['number'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='step_once')],
                },
            ),
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=200, verbose_name='worker')),
                    ('name', models.CharField(blank=True, max_length=200)),
                    ('attributes', models.JSONField(blank=True, default=dict)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='workers', to='selection.pool')),
                    ('erased', models.DateTimeField(editable=False, null=True)),
                    ('mail_address', models.EmailField(blank=True, db_default='', default='', max_length=254, verbose_name='e-mail')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('pool', 'key'), name='worker_once_in_pool')],
                },
            ),
            migrations.CreateModel(
                name='Candidate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('arm', models.PositiveIntegerField()),
                    ('asked', models.PositiveIntegerField(default=0)),
                    ('pulls', models.PositiveIntegerField(default=0)),
                    ('rewards', models.FloatField(default=0)),
                    ('verdict', models.SmallIntegerField(choices=[(-1, 'rejected'), (0, 'undecided'), (1, 'accepted')], default=0)),
                    ('decided_in', models.PositiveIntegerField(null=True, verbose_name='decided in step')),
                    ('decided_why', models.CharField(blank=True, max_length=300)),
                    ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='candidates', to='selection.run')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='candidates', to='selection.worker')),
                    ('skill', models.PositiveSmallIntegerField(default=0)),
                    ('by_hand', models.SmallIntegerField(choices=[(-1, 'rejected'), (0, 'undecided'), (1, 'accepted')], null=True)),
                    ('by_hand_why', models.CharField(blank=True, default='', max_length=300)),
                    ('gone', models.CharField(blank=True, choices=[('absent', 'never came'), ('left', 'left'), ('withdrawn', 'withdrawn'), ('screened', 'did not pass the practice')], default='', max_length=10)),
                    ('gone_at', models.DateTimeField(null=True)),
                    ('seen', models.DateTimeField(null=True)),
                    ('void', models.PositiveIntegerField(default=0)),
                    ('met', models.JSONField(default=list)),
                    ('skipped', models.PositiveIntegerField(default=0)),
                    ('platform', models.CharField(blank=True, choices=[('prolific', 'Prolific'), ('connect', 'Connect'), ('besample', 'Besample'), ('sona', 'SONA'), ('mturk', 'Amazon Mechanical Turk'), ('custom', 'another platform')], db_default='', default='', max_length=10)),
                    ('task', models.CharField(blank=True, db_default='', default='', max_length=100)),
                    ('link_version', models.PositiveSmallIntegerField(db_column='links', default=0)),
                    ('unaffordable', models.BooleanField(db_default=False, default=False)),
                    ('unreadable', models.CharField(blank=True, choices=[('asking', 'to be decided'), ('wrong', 'count as wrong')], db_default='', default='', max_length=6)),
                ],
                options={
                    'ordering': ['arm'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'arm'), name='arm_once_in_run'), models.UniqueConstraint(fields=('run', 'worker', 'skill'), name='worker_once_in_skill')],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('step', models.PositiveIntegerField(verbose_name='dealt in step')),
                    ('due', models.DateTimeField(null=True)),
                    ('candidate', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='selection.candidate')),
                    ('question', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='selection.question')),
                    ('shown', models.DateTimeField(null=True)),
                ],
                options={
                    'ordering': ['candidate', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('candidate', 'position'), name='position_once'), models.UniqueConstraint(fields=('candidate', 'question'), name='question_once')],
                },
            ),
            migrations.CreateModel(
                name='Answer',
                fields=[
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='selection.assignment')),
                    ('response', models.TextField(blank=True)),
                    ('right', models.BooleanField()),
                    ('expired', models.BooleanField(default=False)),
                    ('at', models.DateTimeField()),
                    ('applied_in', models.PositiveIntegerField(null=True)),
                    ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='selection.run')),
                    ('void', models.BooleanField(default=False)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('applied_in', None)), fields=['run'], name='answer_to_apply')],
                },
            ),
            migrations.CreateModel(
                name='Skill',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveSmallIntegerField(default=0, editable=False)),
                    ('k', models.PositiveIntegerField(help_text='How many workers to select in this skill.', verbose_name='K')),
                    ('deck_size', models.PositiveIntegerField(default=0, editable=False)),
                    ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='skills', to='selection.questionset')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='further', to='selection.run')),
                ],
                options={
                    'ordering': ['number'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='skill_number_once_in_run'), models.UniqueConstraint(fields=('run', 'question_set'), name='question_set_once_in_run')],
                },
            ),
            migrations.CreateModel(
                name='RecordedAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('response', models.TextField()),
                    ('candidate', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recorded', to='selection.candidate')),
                    ('question', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='selection.question')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('candidate', 'question'), name='recorded_once')],
                    'db_table': 'selection_recorded',
                },
            ),
            migrations.CreateModel(
                name='Event',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField()),
                    ('who', models.CharField(blank=True, max_length=150)),
                    ('kind', models.CharField(max_length=20)),
                    ('what', models.TextField()),
                    ('why', models.CharField(blank=True, max_length=300)),
                    ('step', models.PositiveIntegerField(default=0)),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='selection.run')),
                ],
                options={
                    'ordering': ['-at', '-id'],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(blank=True, choices=[('owner', 'owner: full access, including members'), ('manager', 'manager: full access, except members'), ('viewer', 'viewer: read only'), ('', 'permissions of the user account')], default='viewer', max_length=10)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='selection.team')),
                ],
                options={
                    'ordering': ['team', 'user'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='user_once_in_team')],
                },
            ),
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField()),
                    ('who', models.CharField(max_length=150)),
                    ('address', models.CharField(blank=True, max_length=45, verbose_name='from')),
                    ('kind', models.CharField(max_length=20, verbose_name='did')),
                    ('model', models.CharField(max_length=50, verbose_name='what')),
                    ('item', models.CharField(blank=True, max_length=50)),
                    ('name', models.CharField(max_length=200)),
                    ('before', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                    ('after', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                    ('why', models.CharField(blank=True, max_length=300)),
                    ('team', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='selection.team')),
                ],
                options={
                    'verbose_name_plural': 'audit entries',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['model', 'item'], name='audit_of_item')],
                },
            ),
            migrations.CreateModel(
                name='Practice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('prompt', models.TextField()),
                    ('accepted', models.JSONField(default=list, verbose_name='accepted answers')),
                    ('choices', models.JSONField(blank=True, default=list)),
                    ('grading', models.JSONField(blank=True, default=dict)),
                    ('number', models.PositiveIntegerField(default=0, help_text='Position among the practice questions.')),
                    ('explanation', models.TextField(blank=True, help_text='Shown after the answer.')),
                    ('must', models.BooleanField(default=False, help_text='Workers must answer it correctly before the test.', verbose_name='required')),
                    ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='practice', to='selection.questionset')),
                ],
                options={
                    'verbose_name': 'practice question',
                    'ordering': ['number', 'id'],
                },
            ),
            migrations.CreateModel(
                name='MediaFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('token', models.CharField(default=selection.models.media.new_token, editable=False, max_length=40, unique=True)),
                    ('name', models.CharField(max_length=100)),
                    ('type', models.CharField(max_length=20)),
                    ('size', models.PositiveIntegerField()),
                    ('data', models.BinaryField()),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('question_set', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='media', to='selection.questionset')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('question_set', 'name'), name='media_once_in_set')],
                },
            ),
            migrations.CreateModel(
                name='PracticeAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('response', models.TextField()),
                    ('right', models.BooleanField()),
                    ('done', models.BooleanField()),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('at', models.DateTimeField()),
                    ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='practised', to='selection.candidate')),
                    ('practice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='selection.practice')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('candidate', 'practice'), name='practised_once')],
                },
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.CharField(max_length=500, verbose_name='address')),
                    ('events', models.JSONField(default=list)),
                    ('on', models.BooleanField(default=True)),
                    ('salt', models.CharField(default=selection.models.webhooks.fresh_salt, editable=False, max_length=32)),
                    ('note', models.CharField(blank=True, default='', editable=False, max_length=300)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(default=selection.models.teams.default_team, on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='selection.team')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('message', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('kind', models.CharField(max_length=40)),
                    ('body', models.TextField()),
                    ('made', models.DateTimeField(db_index=True)),
                    ('due', models.DateTimeField(null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('tried', models.DateTimeField(null=True)),
                    ('code', models.PositiveSmallIntegerField(null=True)),
                    ('said', models.CharField(blank=True, default='', max_length=500)),
                    ('delivered', models.DateTimeField(null=True)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='selection.webhook')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'ordering': ['-id'],
                    'indexes': [models.Index(condition=models.Q(('due', None), _negated=True), fields=['webhook', 'due'], name='delivery_to_send')],
                },
            ),
            migrations.CreateModel(
                name='ColumnNames',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('workers', 'Workers'), ('questions', 'Questions'), ('answers', 'Answers')], max_length=10)),
                    ('signature', models.CharField(max_length=64)),
                    ('plan', models.JSONField(default=dict)),
                    ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.team')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('team', 'kind', 'signature'), name='columns_named_once')],
                },
            ),
            migrations.CreateModel(
                name='UploadedRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('line', models.PositiveIntegerField()),
                    ('key', models.CharField(max_length=200, null=True)),
                    ('data', models.JSONField(default=dict)),
                    ('why', models.CharField(blank=True, max_length=1000)),
                    ('outside', models.BooleanField(default=False)),
                    ('fresh', models.BooleanField(default=True)),
                    ('before', models.JSONField(null=True)),
                    ('upload', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='selection.upload')),
                ],
                options={
                    'ordering': ['line', 'id'],
                    'indexes': [models.Index(fields=['upload', 'line'], name='uploaded_by_line')],
                    'constraints': [models.UniqueConstraint(fields=('upload', 'key'), name='uploaded_once')],
                },
            ),
            migrations.CreateModel(
                name='Heartbeat',
                fields=[
                    ('name', models.CharField(max_length=10, primary_key=True, serialize=False)),
                    ('at', models.DateTimeField()),
                ],
                options={
                    'verbose_name_plural': 'system',
                    'db_table': 'selection_pulse',
                },
            ),
            migrations.CreateModel(
                name='IdempotencyKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=200)),
                    ('digest', models.CharField(max_length=64)),
                    ('reply', models.JSONField(null=True)),
                    ('created', models.DateTimeField(auto_now_add=True, db_index=True)),
                    ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.apitoken')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('token', 'key'), name='creation_key_once')],
                    'db_table': 'selection_creation',
                },
            ),
            migrations.CreateModel(
                name='RunForecast',
                fields=[
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='outlook', serialize=False, to='selection.run')),
                    ('at', models.DateTimeField()),
                    ('seconds', models.FloatField(default=0)),
                    ('step', models.PositiveIntegerField(default=0)),
                    ('counted', models.PositiveIntegerField(default=0)),
                    ('low', models.PositiveIntegerField(default=0)),
                    ('median', models.PositiveIntegerField(default=0)),
                    ('high', models.PositiveIntegerField(default=0)),
                    ('runs', models.PositiveIntegerField(default=0)),
                    ('kept', models.FloatField(default=0)),
                    ('epsilon', models.FloatField(null=True)),
                    ('most', models.PositiveIntegerField(default=0)),
                    ('uniform', models.FloatField(null=True)),
                    ('why', models.CharField(blank=True, max_length=200)),
                ],
                options={
                    'db_table': 'selection_outlook',
                },
            ),
            migrations.CreateModel(
                name='ForecastRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64, unique=True)),
                    ('wanted', models.JSONField()),
                    ('belief', models.JSONField()),
                    ('by', models.CharField(blank=True, max_length=150)),
                    ('state', models.CharField(choices=[('waiting', 'waits for a worker process'), ('working', 'is being refined'), ('done', 'is done'), ('cancelled', 'was cancelled'), ('failed', 'failed')], default='waiting', max_length=10)),
                    ('error', models.CharField(blank=True, max_length=300)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('used', models.DateTimeField()),
                    ('team', models.ForeignKey(default=selection.models.teams.default_team, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.team')),
                ],
                options={
                    'ordering': ['-used', '-id'],
                    'db_table': 'selection_planning',
                },
            ),
            migrations.CreateModel(
                name='ForecastPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('curve', models.CharField(blank=True, max_length=10)),
                    ('at', models.FloatField(default=0)),
                    ('algorithm', models.CharField(max_length=50)),
                    ('options', models.JSONField(default=dict)),
                    ('plays', models.JSONField(default=list)),
                    ('runs', models.PositiveIntegerField(default=0)),
                    ('need', models.JSONField(null=True)),
                    ('seconds', models.FloatField(default=0)),
                    ('finished', models.BooleanField(default=False)),
                    ('sent', models.DateTimeField(null=True)),
                    ('planning', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='selection.forecastrequest')),
                    ('taken', models.DateTimeField(null=True)),
                ],
                options={
                    'ordering': ['number'],
                    'indexes': [models.Index(condition=models.Q(('finished', False)), fields=['sent'], name='planning_part_to_do')],
                    'constraints': [models.UniqueConstraint(fields=('planning', 'number'), name='planning_part_once')],
                    'db_table': 'selection_planningpart',
                },
            ),
            migrations.CreateModel(
                name='QuestionReport',
                fields=[
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='report', serialize=False, to='selection.assignment')),
                    ('text', models.TextField()),
                    ('at', models.DateTimeField()),
                    ('heard', models.DateTimeField(null=True)),
                ],
                options={
                    'ordering': ['-at'],
                    'db_table': 'selection_complaint',
                },
            ),
            migrations.CreateModel(
                name='Replay',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=200)),
                    ('by', models.CharField(blank=True, max_length=150)),
                    ('wanted', models.JSONField()),
                    ('names', models.JSONField(default=list)),
                    ('answers', models.BinaryField(default=b'')),
                    ('key', models.BinaryField(default=b'')),
                    ('record', models.BinaryField(default=b'')),
                    ('tallies', models.JSONField(default=list)),
                    ('facts', models.JSONField(default=dict)),
                    ('plays', models.JSONField(default=list)),
                    ('played', models.PositiveIntegerField(default=0)),
                    ('seconds', models.FloatField(default=0)),
                    ('state', models.CharField(choices=[('columns', 'needs its columns'), ('reading', 'is being read'), ('working', 'is being replayed'), ('done', 'is done'), ('failed', 'failed')], default='reading', max_length=10)),
                    ('error', models.CharField(blank=True, max_length=500)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('sent', models.DateTimeField(null=True)),
                    ('question_set', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.questionset')),
                    ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.run')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.team')),
                    ('columns', models.JSONField(db_default={}, default=dict)),
                ],
                options={
                    'ordering': ['-created'],
                },
            ),
            migrations.CreateModel(
                name='MailSettings',
                fields=[
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='mail_settings', serialize=False, to='selection.run')),
                    ('remind_hours', models.PositiveIntegerField(default=48)),
                    ('texts', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='Follower',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('since', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='followers', to='selection.team')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='followed_teams', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='follower_once_in_team')],
                },
            ),
            migrations.CreateModel(
                name='Mail',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('message', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('kind', models.CharField(choices=[('invitation', 'invitation'), ('reminder', 'reminder'), ('ended', 'end of the run'), ('attention', 'need of attention')], max_length=10)),
                    ('words', models.TextField(blank=True, default='')),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('sending', 'being sent'), ('sent', 'sent'), ('refused', 'address failed'), ('failed', 'failed'), ('skipped', 'not sent')], default='waiting', max_length=10)),
                    ('made', models.DateTimeField()),
                    ('due', models.DateTimeField(null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('tried', models.DateTimeField(null=True)),
                    ('sent', models.DateTimeField(null=True)),
                    ('digest', models.CharField(blank=True, default='', max_length=64)),
                    ('said', models.CharField(blank=True, default='', max_length=300)),
                    ('noted', models.BooleanField(default=False)),
                    ('candidate', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='selection.candidate')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='selection.run')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(condition=models.Q(('due', None), _negated=True), fields=['due'], name='mail_to_send'), models.Index(condition=models.Q(('noted', False), ('state', 'sent')), fields=['run'], name='mail_to_note')],
                },
            ),
            migrations.CreateModel(
                name='OptOut',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='opt_outs', to='selection.team')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('team', 'digest'), name='opt_out_once_in_team')],
                },
            ),
            migrations.CreateModel(
                name='ModelSpending',
                fields=[
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='spending', serialize=False, to='selection.run')),
                    ('limit', models.BigIntegerField(blank=True, null=True)),
                    ('spent', models.BigIntegerField(default=0)),
                    ('in_flight', models.BigIntegerField(default=0)),
                    ('held_until', models.DateTimeField(blank=True, null=True)),
                    ('inputs', models.CharField(blank=True, db_default='', default='', editable=False, max_length=64)),
                ],
            ),
            migrations.CreateModel(
                name='ModelServer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('url', models.CharField(help_text='For example https://api.openai.com/v1', max_length=500, verbose_name='address')),
                    ('key_variable', models.CharField(blank=True, default='', max_length=100, verbose_name='environment variable of the API key')),
                    ('key_encrypted', models.TextField(blank=True, default='', editable=False)),
                    ('requests_per_minute', models.PositiveIntegerField(blank=True, help_text='Leave blank for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                    ('concurrency', models.PositiveIntegerField(default=8, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)], verbose_name='calls at once')),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(db_index=False, default=selection.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, related_name='model_servers', to='selection.team')),
                    ('extra_headers', models.JSONField(blank=True, db_default={}, default=dict, help_text='For example {“api-key”: “{key}”}: {key} stands for the API key.')),
                    ('extra_query', models.JSONField(blank=True, db_default={}, default=dict, help_text='For example {“api-version”: “2024-10-21”}.', verbose_name='parameters of the address')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='model_server_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                },
            ),
            migrations.CreateModel(
                name='Endpoint',
                fields=[
                    ('worker', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='endpoint', serialize=False, to='selection.worker')),
                    ('model', models.CharField(max_length=200)),
                    ('system_prompt', models.TextField(blank=True, default='')),
                    ('template', models.TextField(blank=True, default='')),
                    ('temperature', models.FloatField(blank=True, default=0, null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(2)])),
                    ('seed', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(9007199254740992)])),
                    ('max_tokens', models.PositiveIntegerField(default=512, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)])),
                    ('timeout', models.FloatField(default=60, validators=[django.core.validators.MinValueValidator(0.1), django.core.validators.MaxValueValidator(600)])),
                    ('structured', models.BooleanField(default=True)),
                    ('parsing', models.CharField(choices=[('auto', 'the choice, the last number, or the whole reply'), ('letter', 'a letter: A, B, C …'), ('word', 'the only choice that the reply mentions'), ('json', 'the field “answer” of a JSON object'), ('last line', 'the last line'), ('regex', 'a regular expression')], default='auto', max_length=10)),
                    ('pattern', models.CharField(blank=True, default='', max_length=200)),
                    ('unreadable', models.CharField(choices=[('wrong', 'counts as a wrong answer'), ('retry', 'is asked for again, up to twice')], default='wrong', max_length=5)),
                    ('reuse', models.BooleanField(default=False)),
                    ('price_in', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_out', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_call', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)])),
                    ('problem', models.CharField(blank=True, default='', editable=False, max_length=300)),
                    ('rests_until', models.DateTimeField(editable=False, null=True)),
                    ('failures', models.PositiveIntegerField(default=0, editable=False)),
                    ('server', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='endpoints', to='selection.modelserver')),
                    ('adjustments', models.JSONField(db_default={}, default=dict, editable=False)),
                    ('dearest', models.BigIntegerField(editable=False, null=True)),
                    ('extra_body', models.JSONField(blank=True, db_default={}, default=dict)),
                    ('max_completion_tokens', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)])),
                    ('reasoning_effort', models.CharField(blank=True, db_default='', default='', max_length=20)),
                ],
                options={
                    'ordering': ['worker'],
                },
            ),
            migrations.CreateModel(
                name='ModelCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('attempt', models.PositiveSmallIntegerField(default=1)),
                    ('state', models.CharField(choices=[('sent', 'in flight'), ('replied', 'replied'), ('failed', 'failed'), ('interrupted', 'interrupted'), ('reused', 'reply reused')], default='sent', max_length=11)),
                    ('sent', models.DateTimeField()),
                    ('expires', models.DateTimeField()),
                    ('closed', models.DateTimeField(null=True)),
                    ('reserved', models.BigIntegerField(default=0)),
                    ('cost', models.BigIntegerField(default=0)),
                    ('tokens_in', models.PositiveIntegerField(null=True)),
                    ('tokens_out', models.PositiveIntegerField(null=True)),
                    ('milliseconds', models.PositiveIntegerField(null=True)),
                    ('request_id', models.CharField(blank=True, default='', max_length=100)),
                    ('reply', models.TextField(blank=True, default='')),
                    ('answer', models.TextField(blank=True, default='')),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('assignment', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='model_calls', to='selection.assignment')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.question')),
                    ('run', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='selection.run')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='selection.worker')),
                    ('result', models.CharField(blank=True, choices=[('read', 'read'), ('empty', 'empty'), ('cut off', 'cut off'), ('refused', 'refused'), ('unreadable', 'not readable')], db_default='', default='', max_length=10)),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['run', 'id'], name='call_of_run'), models.Index(fields=['assignment'], name='call_of_assignment'), models.Index(condition=models.Q(('state', 'replied')), fields=['digest'], name='call_to_reuse'), models.Index(condition=models.Q(('state', 'sent')), fields=['expires'], name='call_in_flight')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'sent')), fields=('assignment',), name='call_in_flight_once')],
                },
            ),
            migrations.CreateModel(
                name='Connection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(editable=False, max_length=40)),
                    ('name', models.CharField(max_length=100)),
                    ('address', models.CharField(blank=True, default='', max_length=500)),
                    ('secrets_encrypted', models.TextField(blank=True, default='', editable=False)),
                    ('settings', models.JSONField(blank=True, default=dict)),
                    ('salt', models.CharField(default=selection.models.webhooks.fresh_salt, editable=False, max_length=32)),
                    ('paused', models.BooleanField(default=False)),
                    ('checked', models.DateTimeField(editable=False, null=True)),
                    ('problem', models.CharField(blank=True, default='', editable=False, max_length=500)),
                    ('rests_until', models.DateTimeField(editable=False, null=True)),
                    ('failures', models.PositiveIntegerField(default=0, editable=False)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ForeignKey(db_index=False, default=selection.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, related_name='connections', to='selection.team')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='connection_named_once', violation_error_code='name_taken', violation_error_message='This name is already in use.')],
                },
            ),
            migrations.CreateModel(
                name='RunConnection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('settings', models.JSONField(blank=True, default=dict)),
                    ('memory', models.JSONField(blank=True, default=dict)),
                    ('on', models.BooleanField(default=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=500)),
                    ('polled', models.DateTimeField(null=True)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('connection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='selection.connection')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='connections', to='selection.run')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'connection'), name='connection_once_in_run')],
                },
            ),
            migrations.CreateModel(
                name='OutsideWorker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('outside_id', models.CharField(blank=True, default='', max_length=200)),
                    ('place', models.CharField(blank=True, default='', max_length=200)),
                    ('notes', models.JSONField(blank=True, default=dict)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.worker')),
                    ('link', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='workers', to='selection.runconnection')),
                ],
                options={
                    'indexes': [models.Index(fields=['link', 'place'], name='outside_place')],
                    'constraints': [models.UniqueConstraint(fields=('link', 'worker'), name='worker_once_in_link')],
                },
            ),
            migrations.CreateModel(
                name='OutsideTask',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.BigIntegerField()),
                    ('outside_id', models.CharField(blank=True, default='', max_length=200)),
                    ('state', models.CharField(choices=[('waiting', 'to be sent'), ('sent', 'there'), ('leaving', 'to be removed'), ('removed', 'removed'), ('answered', 'answered'), ('refused', 'refused')], default='waiting', max_length=8)),
                    ('revision', models.CharField(blank=True, default='', max_length=40)),
                    ('made', models.DateTimeField()),
                    ('sent', models.DateTimeField(null=True)),
                    ('ended', models.DateTimeField(null=True)),
                    ('assignment', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='outside_task', to='selection.assignment')),
                    ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outside_tasks', to='selection.candidate')),
                    ('link', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='selection.runconnection')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['link', 'state'], name='outside_state')],
                    'constraints': [models.UniqueConstraint(fields=('link', 'number'), name='task_once_in_link')],
                },
            ),
            migrations.CreateModel(
                name='ConnectorCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('message', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('kind', models.CharField(max_length=40)),
                    ('body', models.TextField()),
                    ('made', models.DateTimeField(db_index=True)),
                    ('due', models.DateTimeField(null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('tried', models.DateTimeField(null=True)),
                    ('code', models.PositiveSmallIntegerField(null=True)),
                    ('said', models.CharField(blank=True, default='', max_length=500)),
                    ('delivered', models.DateTimeField(null=True)),
                    ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='selection.connection')),
                    ('link', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='selection.runconnection')),
                ],
                options={
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['connection', 'id'], name='connector_call_log'), models.Index(condition=models.Q(('due', None), _negated=True), fields=['connection', 'id'], name='connector_call_due')],
                },
            ),
            migrations.CreateModel(
                name='Job',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                    ('kind', models.CharField(max_length=40)),
                    ('subject', models.PositiveBigIntegerField(default=0)),
                    ('wanted', models.JSONField(default=dict)),
                    ('by', models.CharField(blank=True, max_length=150)),
                    ('state', models.CharField(choices=[('waiting', 'waits for a worker process'), ('working', 'is being done'), ('done', 'is done'), ('failed', 'failed')], default='waiting', max_length=10)),
                    ('result', models.JSONField(null=True)),
                    ('error', models.TextField(blank=True)),
                    ('field', models.CharField(blank=True, max_length=100)),
                    ('status', models.PositiveSmallIntegerField(default=0)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('sent', models.DateTimeField(null=True)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.team')),
                ],
                options={
                    'ordering': ['created'],
                },
            ),
            migrations.CreateModel(
                name='CandidateArrays',
                fields=[
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='selection.run')),
                    ('step', models.PositiveIntegerField()),
                    ('content', models.BinaryField()),
                ],
            ),
            migrations.CreateModel(
                name='CandidateChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('candidate', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='selection.candidate')),
                    ('run', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='selection.run')),
                ],
            ),
        ]),
        migrations.RunPython(make_first_team, migrations.RunPython.noop),
        migrations.RunPython(store_arrays_as_they_are, forget_triggers),
    ]
