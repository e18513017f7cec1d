/* Which parts of a command line are masked. */
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/base/text/secrets.h"
#include "tests/unit.h"

static void secrets_are_masked(void **state)
{
	static const char *const cases[][2] = {
		{"train --token=abc --lr 1", "train --token=*** --lr 1"},
		{"train --hf-token abc --lr 1", "train --hf-token *** --lr 1"},
		{"train --wandb_api_key 'a b' x", "train --wandb_api_key *** x"},
		{"train --password --lr 1", "train --password --lr 1"},
		{"train --password=a,b&c", "train --password=***"},
		{"train '--password=a b'", "train '--password=***'"},
		{"env AWS_SECRET_ACCESS_KEY=abc x", "env AWS_SECRET_ACCESS_KEY=*** x"},
		{"t '--config={\"apiKey\": \"a b\", \"lr\": 1}'",
		 "t '--config={\"apiKey\": \"***\", \"lr\": 1}'"},
		{"t ++model.api_key=abc", "t ++model.api_key=***"},
		{"t https://me:pass@host/x?a=1", "t https://***@host/x?a=1"},
		{"t https://host/x?access_token=abc&b=1#c",
		 "t https://host/x?access_token=***&b=1#c"},
		{"t postgres://u:p@ss@host/db", "t postgres://***@host/db"},
		{"t 'Authorization: Bearer abc'", "t 'Authorization: ***'"},
		{"t 'https://host/x?X-Amz-Signature=abc'",
		 "t 'https://host/x?X-Amz-Signature=***'"},
		{"t 'https://host/x?sv=1&sig=abc&se=2'", "t 'https://host/x?sv=1&sig=***&se=2'"},
		{"t --auth me:abc --db-pwd=a --pass a", "t --auth *** --db-pwd=*** --pass ***"},
		{"t --session-cookie=a --secrets a,b", "t --session-cookie=*** --secrets ***"},
		{"t --password -abc --token= abc", "t --password *** --token= ***"},
		{"t --cmd 'app --token abc --lr 1'", "t --cmd 'app --token *** --lr 1'"},
		{"t '{\"private_key\" : \"abc\"}' 'password = abc'",
		 "t '{\"private_key\" : \"***\"}' 'password = ***'"},
		{"t --secret-name=abc --password2 abc", "t --secret-name=*** --password2 ***"},
		{"t --secretKey x --KEY y -key z", "t --secretKey *** --KEY *** -key ***"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = gp_secrets_mask(cases[i][0]);

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

static void other_words_stay(void **state)
{
	static const char *const cases[] = {
		"",
		" ",
		"train  --lr 1 ",
		"train --tokenizer gpt2 --max-new-tokens 5 --num_key_value_heads=8",
		"train --monkey x --hotkey=y --key-file k",
		"train --bypass 1 --authors x --max-tokens=9 --sigma 2 --design=x",
		"t https://host/a@b 'it'\\''s' \\' --token",
		"t a:b=c :// = : '",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = gp_secrets_mask(cases[i]);

		assert_string_equal(text, cases[i]);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_masked),
		cmocka_unit_test(other_words_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
